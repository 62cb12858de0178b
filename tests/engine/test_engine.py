"""Engines: tasks as data, faults, and nothing left behind."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import engine_tasks
import pytest
import tiny_study

from blindsave import store
from blindsave.engine import InProcess, Output, Task, TaskEvent, Workers, open_engine
from blindsave.engine.machine import cores, gpus
from blindsave.engine.retries import RETRIES, TaskLost
from blindsave.engine.task import describe_place, open_place
from blindsave.errors import BadFile, BadInput, Damaged, DiskFull
from blindsave.stages.site import Site

TESTS = Path(__file__).parents[1] / "support"
GONE_WITHIN_S = 60.0


@pytest.fixture(autouse=True)
def workers_find_the_tasks(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(TESTS), prepend=os.pathsep)


@pytest.fixture
def site(tmp_path) -> Site:
    return tiny_study.site(tmp_path)


@pytest.fixture(scope="module")
def workers():
    """Two workers for all tests that leave them alive."""
    with pytest.MonkeyPatch.context() as patch, Workers(2) as engine:
        patch.setenv("PYTHONPATH", str(TESTS), prepend=os.pathsep)
        yield engine


def silent(event: TaskEvent) -> None:
    """Nobody listens."""


def gone(pid: int) -> bool:
    """Whether a process ends; waits for it."""
    limit = time.monotonic() + GONE_WITHIN_S
    while store.process_alive(pid) and time.monotonic() < limit:
        time.sleep(0.02)
    return not store.process_alive(pid)


def test_a_task_survives_being_written_down():
    task = Task("1 + 2", engine_tasks.add, {"a": 1, "b": 2}, {"student": 3}, exclusive=True)
    text = json.dumps(task.to_dict())
    assert json.loads(text)["work"] == "engine_tasks:add"
    assert Task.from_dict(json.loads(text)) == task
    output = Output((Path("/a/b"),), (Path("/c"),), {"x": [1, None, "y"]})
    assert Output.from_dict(json.loads(json.dumps(output.to_dict()))) == output


def test_a_place_survives_being_written_down(tmp_path):
    site = Site(tmp_path / "s", tiny_study.TINY, tmp_path / "t.safetensors", threads=3)
    assert open_place(json.loads(json.dumps(describe_place(site)))) == site


def test_what_cannot_be_written_down_is_no_task():
    with pytest.raises(BadInput, match="`a` is not a function that other processes can import"):
        Task("a", lambda site: Output())
    with pytest.raises(BadInput, match="`b` is not a function"):
        Task("b", test_a_place_survives_being_written_down.__get__(1))
    with pytest.raises(BadInput, match="`c` are not plain JSON"):
        Task("c", engine_tasks.add, {"a": (1, 2)})


@pytest.mark.parametrize("name", ["here", "workers"])
def test_outputs_come_in_the_order_of_the_tasks_and_everything_is_told(site, workers, name):
    engine, heard = {"here": InProcess(), "workers": workers}[name], []
    tasks = [Task(f"{a}", engine_tasks.add, {"a": a, "b": 1}) for a in range(5)]
    found = engine.run(site, tasks, heard.append)
    assert [output.result["sum"] for output in found] == [1, 2, 3, 4, 5]
    assert [output.files[0].name for output in found] == [f"sum-{a}-1" for a in range(5)]
    for key in map(str, range(5)):
        told = [(event.what, event.done, event.total, event.remark) for event in heard if event.key == key]
        assert told == [
            ("begun", 0, 0, ""),
            ("progress", 1, 2, "half"),
            ("progress", 2, 2, "half"),
            ("ended", 0, 0, ""),
        ]
    elsewhere = {output.result["pid"] for output in found} - {os.getpid()}
    assert bool(elsewhere) == (name == "workers")


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


@pytest.mark.parametrize("name", ["here", "workers"])
def test_an_error_of_the_system_may_pass_but_a_full_disk_does_not(site, name):
    with open_engine(name, None if name == "here" else 1) as engine:
        heard: list[TaskEvent] = []
        found = engine.run(site, [Task("t", engine_tasks.fail_once, {"kind": "EIO"})], heard.append)
        assert found[0].result == {"ok": True}
        assert [event.what for event in heard] == ["begun", "fault", "begun", "ended"]
        (site.work / "failed").unlink()
        with pytest.raises(DiskFull, match="there is no room left on the disk"):
            engine.run(site, [Task("t", engine_tasks.fail_once, {"kind": "ENOSPC"})], silent)


def test_a_bug_in_a_worker_is_shown_where_it_is(site, workers, capsys):
    with pytest.raises(RuntimeError, match="`bug` failed: ZeroDivisionError"):
        workers.run(site, [Task("bug", engine_tasks.bug)], silent)
    assert "engine_tasks.py" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["here", "workers"])
def test_a_damaged_artifact_is_moved_aside_and_made_again(site, workers, name):
    engine = {"here": InProcess(), "workers": workers}[name]
    task, heard = Task("t", engine_tasks.artifact), []
    (file,) = engine.run(site, [task], silent)[0].files
    file.write_text("half")
    assert engine.run(site, [task], heard.append)[0].files == (file,)
    assert file.read_text() == "whole"
    (fault,) = [event.remark for event in heard if event.what == "fault"]
    assert "data is damaged" in fault and "work/damaged/grid" in fault
    (aside,) = (site.work / "damaged").rglob("data")
    assert aside.read_text() == "half"


def test_damage_elsewhere_is_raised(site):
    from blindsave.engine.repair import with_repair

    def harm(piece: Path) -> None:
        raise Damaged("harmed", piece)

    with pytest.raises(BadFile, match="harmed"):
        with_repair(site, partial(harm, site.results / "table"), print)
    with pytest.raises(BadFile, match="harmed"):  # made again, and damaged again
        with_repair(site, partial(harm, site.work / "piece"), lambda sentence: None)


@pytest.mark.parametrize("name", ["here", "workers"])
def test_a_task_alone_gets_a_fresh_process_and_all_cores(site, workers, name, monkeypatch):
    monkeypatch.setenv("NPROC", "1")
    engine = {"here": InProcess(), "workers": workers}[name]
    found = engine.run(site, [Task("exclusive", engine_tasks.environment, exclusive=True)], silent)[0].result
    assert (found["NPROC"], found["threads"]) == (None, None)
    assert found["pid"] != os.getpid() and gone(found["pid"])


def test_engines_are_chosen_by_name():
    with open_engine("here") as engine:
        assert isinstance(engine, InProcess)
    with open_engine(None, 1) as engine:
        assert isinstance(engine, InProcess)
    with open_engine(None, 3) as engine:
        assert isinstance(engine, Workers) and engine.count == 3
    refused = {
        "no engine `slurm`": {"name": "slurm"},
        "is one process": {"name": "here", "workers": 2},
        "an address is for Ray": {"name": "workers", "address": "auto"},
        "at least 1 worker": {"name": "workers", "workers": 0},
    }
    for sentence, options in refused.items():
        with pytest.raises(BadInput, match=sentence), open_engine(**options):
            pass


def test_gpus_are_found_without_jax(tmp_path):
    for name in ("nvidia10", "nvidia2", "nvidiactl", "nvidia-uvm"):
        (tmp_path / name).touch()
    assert gpus({}, tmp_path) == ["2", "10"]
    assert gpus({"CUDA_VISIBLE_DEVICES": "3,1"}, tmp_path) == ["3", "1"]
    assert gpus({"CUDA_VISIBLE_DEVICES": ""}, tmp_path) == gpus({"JAX_PLATFORMS": "cpu"}, tmp_path) == []


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


def test_a_lost_node_of_a_ray_cluster_costs_only_its_task(site):
    command = [sys.executable, str(TESTS / "ray_cluster.py"), str(site.folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"names": ["a", "b"], "sum": 3, "faults": 1}


OWN_RAY = """
import sys
from pathlib import Path
import engine_tasks, tiny_study
from blindsave.engine import Task, open_engine
with open_engine("ray", 1) as engine:
    found = engine.run(tiny_study.site(Path(sys.argv[1])), [Task("sum", engine_tasks.add, {"a": 1, "b": 2})], print)
assert found[0].result["sum"] == 3
"""


def test_without_an_address_ray_starts_its_own_whatever_else_runs_on_the_machine(site):
    """Nothing listens at that address: an engine that joined the cluster it finds would fail."""
    environment = os.environ | {"RAY_ADDRESS": "127.0.0.1:1"}
    command = [sys.executable, "-c", OWN_RAY, str(site.folder)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr


def test_an_address_without_a_cluster_is_named():
    with (
        pytest.raises(BadInput, match=r"there is no Ray cluster at 127\.0\.0\.1:1 "),
        open_engine("ray", address="127.0.0.1:1"),
    ):
        pass


def test_a_node_that_cannot_take_part_is_named():
    from blindsave.engine.nodes import complaint, report

    probe = TESTS / "engine_tasks.py"
    mine = report(probe)
    assert complaint(probe.parent, "10.0.0.7", mine, report(probe)) is None
    others = {
        "10.0.0.7 does not see .*a disk that all nodes share": mine | {"seen": None},
        "10.0.0.7 has another version of blindsave": mine | {"code": "0" * 64},
        "without all its compiled parts on the Ray node": mine | {"compiled": mine["compiled"][1:]},
        "10.0.0.7 has mujoco None, not": mine | {"libraries": {**mine["libraries"], "mujoco": None}},
    }
    for sentence, other in others.items():
        assert re.search(sentence, complaint(probe.parent, "10.0.0.7", mine, other) or "")
