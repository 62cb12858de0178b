"""One task after another, in this process."""

import os

import engine_tasks
import pytest
from engine_tasks import silent

from blindsave.engine import InProcess, Task
from blindsave.engine.retries import RETRIES, TaskLost
from blindsave.errors import BadInput


def test_tasks_are_done_here_in_their_order(site):
    heard = []
    tasks = [Task(str(a), engine_tasks.add, {"a": a, "b": 0}) for a in (2, 1)]
    found = InProcess().run(site, tasks, heard.append)
    assert [one.result["pid"] for one in found] == [os.getpid()] * 2
    assert [(event.what, event.key) for event in heard if event.what != "progress"] == [
        ("begun", "2"),
        ("ended", "2"),
        ("begun", "1"),
        ("ended", "1"),
    ]


def test_an_error_that_will_not_pass_ends_the_run_at_once(site):
    engine_tasks.mark(site, "there")
    tasks = [Task("bad", engine_tasks.refuse, {"after": "there"}), Task("good", engine_tasks.add, {"a": 1, "b": 1})]
    with pytest.raises(BadInput, match="this will never do"):
        InProcess().run(site, tasks, silent)
    assert not (site.work / "sum-1-1").exists()


def test_a_bug_is_raised_as_it_is(site):
    with pytest.raises(ZeroDivisionError):
        InProcess().run(site, [Task("bug", engine_tasks.bug)], silent)


def test_an_error_that_never_passes_is_given_up(site, monkeypatch):
    attempts = []

    def fail(place, task, tell):
        attempts.append(task.key)
        raise OSError(5, "input/output error")

    monkeypatch.setattr("blindsave.engine.in_process.perform", fail)
    with pytest.raises(TaskLost, match=r"`t` failed 4 times; the last time: OSError: .*input/output error"):
        InProcess().run(site, [Task("t", engine_tasks.bug)], silent)
    assert len(attempts) == RETRIES + 1
