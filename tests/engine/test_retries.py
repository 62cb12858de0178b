"""How often a task is tried again."""

import pytest

from blindsave.engine.perform import TransientError
from blindsave.engine.retries import RETRIES, Retries, TaskLost


def test_every_attempt_is_told_until_there_have_been_enough():
    heard = []
    retries = Retries(heard.append)
    for number in range(RETRIES):
        retries.after("t", TransientError(f"mishap {number}"))
    assert [(event.what, event.key) for event in heard] == [("fault", "t")] * RETRIES
    assert heard[0].remark == "the task `t` is done again (attempt 2 of 4): mishap 0"
    with pytest.raises(TaskLost, match="the task `t` failed 4 times; the last time: the end"):
        retries.after("t", TransientError("the end"))
    assert len(heard) == RETRIES


def test_tasks_are_counted_apart():
    retries = Retries(lambda event: None)
    for number in range(RETRIES):
        for key in ("a", "b"):
            retries.after(key, TransientError(f"{number}"))
    with pytest.raises(TaskLost, match="`b`"):
        retries.after("b", TransientError("again"))
