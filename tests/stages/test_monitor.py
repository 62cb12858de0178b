"""What a stage says while its tasks are done."""

import engine_tasks
import pytest
import tiny_study

from blindsave import store
from blindsave.engine import Task, TaskEvent
from blindsave.errors import Damaged
from blindsave.progress import redirect_progress
from blindsave.stages import faults
from blindsave.stages.monitor import StageMonitor
from blindsave.stages.records import Records, state

TASKS = [
    Task("a", engine_tasks.add, {"a": 1, "b": 1}, {"student": 30}),
    Task("b", engine_tasks.add, {"a": 2, "b": 1}, {"student": 70}),
]


@pytest.fixture
def shown():
    """Where the bar stood, and what it said."""
    heard: list[tuple[int, int, str]] = []
    with redirect_progress(lambda *said: heard.append(said)):
        yield heard


@pytest.fixture
def records(tmp_path) -> Records:
    return Records(tmp_path)


def watch(records: Records, tasks=TASKS, listen=None) -> StageMonitor:
    return StageMonitor(tiny_study.site(records.folder), records, "base", "key", tasks, listen)


def test_one_bar_adds_up_all_tasks_by_what_they_cost(records, shown):
    with watch(records) as monitor:
        monitor.tell(TaskEvent("begun", "a"))
        monitor.tell(TaskEvent("progress", "a", 1, 2, "half"))
        monitor.tell(TaskEvent("begun", "b"))
        monitor.tell(TaskEvent("progress", "b", 1, 7))
        monitor.tell(TaskEvent("ended", "a"))
        monitor.tell(TaskEvent("ended", "b"))
    assert [done for done, _, _ in shown] == [0, 15, 15, 25, 40, 100]
    assert {total for _, total, _ in shown} == {100}
    assert shown[1][2] == "a: half"


def test_no_task_counts_for_more_than_it_costs(records, shown):
    monitor = watch(records)
    monitor.tell(TaskEvent("progress", "a", 9, 3))
    monitor.tell(TaskEvent("progress", "b", 0, 0))
    monitor.tell(TaskEvent("progress", "a stranger", 1, 1))
    assert [done for done, _, _ in shown] == [30, 30, 30]


def test_the_record_tells_what_is_done_and_what_is_being_done(records, shown):
    monitor = watch(records)
    for what, key in (("begun", "a"), ("begun", "b"), ("ended", "a"), ("begun", "b")):
        monitor.tell(TaskEvent(what, key))
    assert state(records, "base")["tasks"] == {"done": 1, "of": 2, "running": ["b"]}
    monitor.tell(TaskEvent("ended", "b"))
    monitor.tell(TaskEvent("ended", "b"))
    assert state(records, "base")["tasks"] == {"done": 2, "of": 2, "running": []}


def test_a_fault_is_said_and_kept_and_does_not_count_as_work(records, capsys):
    records.begin("base", "key")
    heard = []
    watch(records, listen=heard.append).tell(TaskEvent("fault", "b", remark="worker 7 was killed"))
    assert "blindsave: base: worker 7 was killed" in capsys.readouterr().err
    (fault,) = faults.read_faults(records.folder)
    assert (fault["stage"], fault["task"], fault["what"]) == ("base", "b", "worker 7 was killed")
    assert [event.what for event in heard] == ["fault"]
    assert "tasks" not in state(records, "base")


def test_mending_sets_a_piece_aside_and_tells_of_it(records):
    records.begin("base", "key")
    piece = store.write_whole(records.folder / "work" / "checkpoints" / "x", "half")
    watch(records).mend(Damaged("x is damaged", piece))
    assert not piece.exists()
    assert (records.folder / "work" / "damaged" / "checkpoints" / "x").read_text() == "half"
    assert faults.read_faults(records.folder)[0]["what"].startswith("x is damaged; it was moved to")


def test_what_cannot_be_made_again_is_not_mended(records):
    piece = store.write_whole(records.folder / "results" / "table", "half")
    with pytest.raises(Damaged, match="table is damaged"):
        watch(records).mend(Damaged("table is damaged", piece))
    assert piece.exists()
