"""What the stages of a study do; `blindsave.study` says in which order and why."""
