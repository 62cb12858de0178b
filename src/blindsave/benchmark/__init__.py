"""A benchmark for anyone's memory core: the paper's task, the memory horizon, tracker faults; one page."""
