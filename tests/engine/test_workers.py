"""Local workers: several at a time, replaced when they die, and none left behind."""

import signal
import subprocess
import sys
from collections import deque
from typing import ClassVar

import engine_tasks
import pytest
from engine_tasks import GONE_WITHIN_S, gone, silent

from blindsave import store
from blindsave.engine import Task, TaskEvent, Workers
from blindsave.engine.machine import cores
from blindsave.engine.retries import RETRIES, TaskLost
from blindsave.errors import BadInput
from blindsave.stages.site import Site

SCRIPT = """
import signal, sys
from pathlib import Path
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells start background jobs with interrupts ignored
import engine_tasks, tiny_study
from blindsave.engine import Task, open_engine
site = tiny_study.site(Path(sys.argv[1]))
with open_engine("workers", 2) as engine:
    engine.run(site, [Task(n, engine_tasks.block, {"name": n}) for n in ("a", "b")], lambda event: None)
"""


def test_two_workers_do_two_tasks_at_a_time(site, workers):
    pairs = [("x", "y"), ("y", "x")]
    tasks = [Task(a, engine_tasks.after, {"name": a, "other": b}) for a, b in pairs]
    assert [one.result["name"] for one in workers.run(site, tasks, silent)] == ["x", "y"]


def test_workers_share_the_cores_unless_told_otherwise(site, workers):
    tasks = [Task(str(a), engine_tasks.add, {"a": a, "b": 1}) for a in range(2)]
    assert {one.result["threads"] for one in workers.run(site, tasks, silent)} == {max(1, cores() // 2)}
    assert workers.run(site, tasks[:1], silent)[0].result["threads"] == cores()
    own = Site(site.folder, site.scale, threads=3)
    assert {one.result["threads"] for one in workers.run(own, tasks, silent)} == {3}


def test_a_task_whose_worker_is_killed_is_done_again(site):
    heard: list[TaskEvent] = []
    tasks = [
        Task("bad", engine_tasks.die, {"name": "bad", "times": 2}),
        Task("good", engine_tasks.add, {"a": 1, "b": 1}),
    ]
    with Workers(2) as engine:
        found = engine.run(site, tasks, heard.append)
    assert [dict(found[0].result), found[1].result["sum"]] == [{"deaths": 2}, 2]
    faults = [event for event in heard if event.what == "fault"]
    assert [event.key for event in faults] == ["bad", "bad"]
    assert all("was killed by SIGKILL" in event.remark for event in faults)
    assert not list(site.folder.rglob(f"{store.TEMPORARY}*"))


def test_a_task_that_always_kills_its_worker_is_named(site):
    heard: list[TaskEvent] = []
    with Workers(1) as engine, pytest.raises(TaskLost, match=r"`bad` failed 4 times.*SIGKILL"):
        engine.run(site, [Task("bad", engine_tasks.die, {"name": "bad", "times": 99})], heard.append)
    assert len([event for event in heard if event.what == "fault"]) == RETRIES
    assert len(list(site.work.glob("bad-death-*"))) == RETRIES + 1


def test_an_error_that_will_not_pass_stops_the_others_and_leaves_nothing(site):
    tasks = [
        Task("endless", engine_tasks.block, {"name": "endless"}),
        Task("refused", engine_tasks.refuse, {"after": "endless"}),
    ]
    with Workers(2) as engine:
        with pytest.raises(BadInput, match="this will never do"):
            engine.run(site, tasks, silent)
        assert gone(int((site.work / "endless").read_text()))
        assert not list(site.folder.rglob(f"{store.TEMPORARY}*"))
        again = engine.run(site, [Task("sum", engine_tasks.add, {"a": 1, "b": 1})], silent)
        assert again[0].result["sum"] == 2


def test_a_bug_in_a_worker_is_shown_where_it_is(site, workers, capsys):
    with pytest.raises(RuntimeError, match="`bug` failed: ZeroDivisionError"):
        workers.run(site, [Task("bug", engine_tasks.bug)], silent)
    assert "engine_tasks.py" in capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_however_a_run_ends_no_worker_survives_it(site, number):
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(site.folder)], stderr=subprocess.DEVNULL)
    try:
        for name in ("a", "b"):
            engine_tasks.wait_for(site.work / name)
        process.send_signal(number)
        code = process.wait(timeout=GONE_WITHIN_S)
    finally:
        process.kill()
        process.wait()
    assert code == {signal.SIGKILL: -9, signal.SIGINT: -2, signal.SIGTERM: 143}[number]
    assert all(gone(int((site.work / name).read_text())) for name in ("a", "b"))
    assert not list(site.folder.rglob(f"{store.TEMPORARY}*"))


def test_no_workers_are_refused():
    for count in (0, -1):
        with pytest.raises(BadInput, match=f"there must be at least 1 worker, got {count}"):
            Workers(count)


def test_nothing_to_do_starts_no_process(site):
    with Workers(2) as engine:
        assert engine.run(site, [], silent) == []
        assert engine._workers == []


def test_workers_are_kept_from_stage_to_stage(site, workers):
    tasks = [Task(str(a), engine_tasks.add, {"a": a, "b": 1}) for a in range(4)]
    first, second = ({one.result["pid"] for one in workers.run(site, tasks, silent)} for _ in range(2))
    assert first & second and len(first | second) <= 2


class Fake:
    """A worker that is never started; it remembers on which GPU it would run."""

    made: ClassVar[list] = []

    def __init__(self, inbox, gpu=None, *, all_cores=False):
        self.gpu, self.all_cores, self.number, self.pid = gpu, all_cores, None, len(self.made)
        self.made.append(self)

    def give(self, number, request):
        self.number = number

    def ask_to_end(self):
        pass

    def end(self):
        return "ended with status 0"


@pytest.fixture
def two_gpus(monkeypatch):
    monkeypatch.setattr("blindsave.engine.workers.gpus", lambda: ["3", "7"])
    monkeypatch.setattr("blindsave.engine.workers.Worker", Fake)
    monkeypatch.setattr(Fake, "made", [])
    return Workers(12)


def hand_out(engine, tasks):
    waiting = deque(range(len(tasks)))
    engine._hand_out({"threads": None}, tasks, waiting, silent)
    return list(waiting)


def test_trainings_take_turns_on_gpus_and_do_not_crowd_them(two_gpus):
    tasks = [Task(f"t{n}", engine_tasks.add, cost={"train gru_n8": 1}) for n in range(10)]
    tasks += [Task("play", engine_tasks.add, cost={"student": 1})]
    assert hand_out(two_gpus, tasks) == [8, 9]  # four trainings per GPU; playing does not wait for one
    assert [worker.gpu for worker in Fake.made] == ["3", "7"] * 4 + ["3"]


def test_a_task_alone_is_not_bound_to_a_gpu(two_gpus):
    hand_out(two_gpus, [Task("exclusive", engine_tasks.add, exclusive=True)])
    assert [(worker.gpu, worker.all_cores) for worker in Fake.made] == [(None, True)]
