"""Errors on their way between processes, and which of them may pass."""

import json
import os
from pathlib import Path

import engine_tasks
import pytest
import tiny_study

from blindsave.engine import Task
from blindsave.engine.perform import answer, describe, may_pass, perform, restore
from blindsave.engine.task import describe_place
from blindsave.errors import BadFile, BadInput, BlindsaveError, Damaged, DiskFull
from blindsave.learning.distil.fit import DivergedError


def test_errors_survive_the_journey(capsys):
    for error in (BadInput("a"), BadFile("b"), DiskFull("c"), BlindsaveError("d")):
        found = restore(json.loads(json.dumps(describe(error))), "key")
        assert (type(found), str(found)) == (type(error), str(error))
    for error in (DivergedError("seed 3 diverged"), Damaged("harmed", Path("x"))):
        found = restore(describe(error), "key")
        assert (type(found), str(found)) == (BlindsaveError, str(error))
    assert restore(describe(ModuleNotFoundError("no jax", name="jax")), "key").name == "jax"
    assert "`key` failed: KeyError" in str(restore(describe(KeyError("x")), "key"))
    assert "KeyError" in capsys.readouterr().err


def test_only_what_may_pass_is_tried_again():
    assert (
        may_pass(OSError(5, "input/output"))
        and may_pass(MemoryError())
        and may_pass(RuntimeError("RESOURCE_EXHAUSTED"))
    )
    assert not any(map(may_pass, (BadInput(""), DiskFull(""), DivergedError(""), TypeError(""), KeyError(""))))


@pytest.fixture
def site(tmp_path):
    return tiny_study.site(tmp_path)


def test_progress_of_a_task_is_told_with_its_name_and_process(site):
    heard = []
    perform(site, Task("sum", engine_tasks.add, {"a": 1, "b": 2}), heard.append)
    assert [(e.what, e.key, e.done, e.total, e.remark) for e in heard] == [
        ("progress", "sum", 1, 2, "half"),
        ("progress", "sum", 2, 2, "half"),
    ]
    assert {event.pid for event in heard} == {os.getpid()}


def test_a_request_is_answered_with_an_output_or_an_error(site, monkeypatch):
    monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "true")
    request = {"place": describe_place(site), "task": Task("sum", engine_tasks.add, {"a": 1, "b": 2}).to_dict()}
    assert answer(request, lambda event: None)["output"]["result"]["sum"] == 3
    assert os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] == "true"  # what the user says stands
    bad = request | {"task": request["task"] | {"arguments": {"a": 1, "b": "x"}}}
    error = answer(bad, lambda event: None)["error"]
    assert (error["kind"], error["may_pass"]) == ("TypeError", False) and "engine_tasks.py" in error["trace"]
    assert answer({"task": request["task"]}, lambda event: None)["error"]["kind"] == "KeyError"


def test_an_error_without_words_is_called_by_its_kind():
    assert describe(MemoryError())["sentence"] == "MemoryError"
    assert str(restore(describe(MemoryError()), "t")) == "MemoryError: MemoryError"


def test_a_known_error_travels_without_a_trace():
    assert describe(BadInput("wrong"))["trace"] == ""
    assert "KeyError" in describe(KeyError("x"))["trace"]
