"""Tasks, outputs and places as data."""

import json
from pathlib import Path

import engine_tasks
import pytest
import tiny_study

from blindsave.engine import Output, Task
from blindsave.engine.task import describe_place, function_named, open_place
from blindsave.errors import BadInput
from blindsave.stages.site import Site


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


def test_only_training_wants_a_gpu():
    assert Task("t", engine_tasks.add, cost={"train gru_n64": 1}).trains
    assert not Task("t", engine_tasks.add, cost={"student": 1, "teaching": 2}).trains


def test_functions_are_found_by_name_and_what_does_not_exist_is_none():
    assert function_named("engine_tasks:add") is engine_tasks.add
    assert function_named("engine_tasks:nothing") is None
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        function_named("no_such_module:add")


def test_a_task_whose_function_is_gone_is_refused_by_name():
    found = Task("t", engine_tasks.add, {"a": 1, "b": 2}).to_dict()
    with pytest.raises(BadInput, match="the task `t` is work that this version does not know: engine_tasks:nothing"):
        Task.from_dict(found | {"work": "engine_tasks:nothing"})


def test_a_place_of_another_kind_travels_too(tmp_path):
    from blindsave.learning.distil.workshop import Workshop

    shop = Workshop(tmp_path, threads=2)
    described = json.loads(json.dumps(describe_place(shop)))
    assert described["kind"] == "blindsave.learning.distil.workshop:Workshop"
    assert open_place(described) == shop
