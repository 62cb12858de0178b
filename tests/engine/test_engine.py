"""What every engine promises, wherever it does the work."""

import os

import engine_tasks
import pytest
from engine_tasks import gone, silent

from blindsave.engine import InProcess, Task, TaskEvent, open_engine
from blindsave.errors import DiskFull


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


@pytest.mark.parametrize("name", ["here", "workers"])
def test_a_task_alone_gets_a_fresh_process_and_all_cores(site, workers, name, monkeypatch):
    monkeypatch.setenv("NPROC", "1")
    engine = {"here": InProcess(), "workers": workers}[name]
    found = engine.run(site, [Task("exclusive", engine_tasks.environment, exclusive=True)], silent)[0].result
    assert (found["NPROC"], found["threads"]) == (None, None)
    assert found["pid"] != os.getpid() and gone(found["pid"])
