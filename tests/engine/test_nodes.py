"""Nodes of a cluster that cannot take part are named before anything begins."""

import re
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="the extra `cluster` (ray) is not installed")

from blindsave.engine.nodes import complaint, report, unseen

TESTS = Path(__file__).parents[1] / "support"


def test_a_node_that_cannot_take_part_is_named():
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


def test_the_first_thing_that_is_wrong_is_said(tmp_path):
    probe = tmp_path / "probe"
    probe.write_text("token")
    mine = report(probe)
    assert mine["seen"] == "token"
    worst = mine | {"seen": None, "code": "0", "compiled": [], "libraries": {}}
    assert complaint(tmp_path, "n", mine, worst) == unseen("n", tmp_path)
    assert "another version" in complaint(tmp_path, "n", mine, worst | {"seen": "token"})


def test_another_file_of_the_same_name_is_not_the_same_folder(tmp_path):
    mine = {"seen": "token", "code": "a", "compiled": ["x"], "libraries": {}}
    assert "does not see" in complaint(tmp_path, "n", mine, mine | {"seen": "another token"})


def test_compiled_parts_may_be_missing_here(tmp_path):
    mine = {"seen": "token", "code": "a", "compiled": [], "libraries": {"numpy": "2", "jax": "1"}}
    assert "without all its compiled parts here" in complaint(tmp_path, "n", mine, mine | {"compiled": ["x"]})
    assert "n has jax None, not 1" in complaint(tmp_path, "n", mine, mine | {"libraries": {"numpy": "2"}})


def test_a_probe_that_is_not_there_is_not_seen(tmp_path):
    assert report(tmp_path / "nothing")["seen"] is None
