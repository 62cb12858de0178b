"""Students for the memory task (`task.remember`), taught so that they cannot copy the answer from their requests."""
