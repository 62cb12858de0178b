"""Performing a stage: in which order, with which record, and what a failure leaves."""

import errno
from pathlib import Path

import engine_tasks
import pytest
import tiny_study

from blindsave import store
from blindsave.engine import InProcess, Output, Task
from blindsave.errors import BadInput, Damaged, DiskFull
from blindsave.stages import faults
from blindsave.stages.monitor import StageMonitor
from blindsave.stages.records import Records, state
from blindsave.stages.stage import Stage, perform


def adding(a: int, episodes: int) -> Task:
    return Task(f"{a}", engine_tasks.add, {"a": a, "b": 0}, {"student": episodes})


def tasks(scale) -> list[Task]:
    return [adding(1, 5), adding(2, 50), adding(3, 20)]


def do(folder: Path, stage: Stage):
    site, records, heard = tiny_study.site(folder), Records(folder), []
    monitor = StageMonitor(site, records, stage.name, "key", stage.tasks(site.scale), heard.append)
    return perform(site, stage, monitor, InProcess()), heard


def test_the_longest_task_goes_first_and_outputs_keep_their_order(tmp_path):
    record, heard = do(tmp_path, Stage("s", "", tasks))
    assert [event.key for event in heard if event.what == "begun"] == ["2", "3", "1"]
    assert [result["sum"] for result in record["results"]] == [1, 2, 3]
    assert sorted(record["files"]) == ["work/sum-1-0", "work/sum-2-0", "work/sum-3-0"]
    assert state(Records(tmp_path), "s")["state"] == "done"


def test_a_stage_may_prepare_and_gather(tmp_path):
    def make(site, dispatch):
        first = dispatch([adding(1, 1)])
        both = first + dispatch([adding(first[0].result["sum"] + 1, 1)])
        return [Output(result={"sums": [output.result["sum"] for output in both]})]

    record, _ = do(tmp_path, Stage("s", "", tasks, make))
    assert record["results"] == [{"sums": [1, 2]}]


def test_a_failure_is_recorded_with_its_reason(tmp_path):
    def refuse(site, dispatch):
        raise BadInput("this will never do")

    with pytest.raises(BadInput):
        do(tmp_path, Stage("s", "", tasks, refuse))
    assert state(Records(tmp_path), "s") == {"stage": "s", "state": "failed", "reason": "this will never do"}


def test_a_failure_without_words_is_recorded_by_its_kind(tmp_path):
    def fail(site, dispatch):
        raise RuntimeError

    with pytest.raises(RuntimeError):
        do(tmp_path, Stage("s", "", tasks, fail))
    assert state(Records(tmp_path), "s")["reason"] == "RuntimeError"


def test_an_interrupted_stage_is_not_a_failed_one(tmp_path):
    def stop(site, dispatch):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        do(tmp_path, Stage("s", "", tasks, stop))
    assert state(Records(tmp_path), "s")["state"] == "running"


def test_no_room_is_said_in_one_sentence(tmp_path):
    def full(site, dispatch):
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(DiskFull, match=f"there is no room left on the disk that holds {tmp_path}"):
        do(tmp_path, Stage("s", "", tasks, full))


def test_damage_met_while_gathering_is_mended_and_kept_among_the_faults(tmp_path):
    piece = store.write_whole(tmp_path / "work" / "shard", "half")

    def gather(site, dispatch):
        if piece.exists():
            raise Damaged("shard is damaged", piece)
        return [Output(result={"ok": True})]

    record, _ = do(tmp_path, Stage("s", "", tasks, gather))
    assert record["results"] == [{"ok": True}]
    assert [fault["task"] for fault in faults.read_faults(tmp_path)] == ["s"]
