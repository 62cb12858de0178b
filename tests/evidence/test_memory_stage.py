"""The memory tests played for real, on a few shots with untrained policies."""

import json

import numpy as np
import pytest

from blindsave.errors import BadInput
from blindsave.evidence import memory, tables
from blindsave.evidence.memory_stage import MemoryStage, controls, with_reset
from blindsave.policies import NamedPolicy
from blindsave.policies.mlp import MLP
from blindsave.policies.students.student import Student


def actor(seed):
    rng = np.random.default_rng(seed)
    return MLP(((rng.normal(0, 0.3, (2, 19)), rng.normal(0, 0.3, 2)),), name=f"ppo/{seed}")


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    for seed in (3, 1, 2):
        actor(seed).write(folder / f"{seed}.safetensors")
    return folder


@pytest.fixture(scope="module")
def teacher():
    return NamedPolicy("teacher", 0, Student.untrained("gru_n64", 14303), "0" * 64)


@pytest.fixture(scope="module")
def grids(tmp_path_factory):
    return tmp_path_factory.mktemp("grids")


def stage(grids, **options):
    return MemoryStage(grids, threads=1, shots_per_split=4, **options)


def test_actors_are_found_by_seed(models):
    assert [one.name for one in controls(models)] == ["ppo/1", "ppo/2", "ppo/3"]


def test_a_folder_without_actors_and_an_actor_without_seed_are_refused(tmp_path):
    with pytest.raises(BadInput, match="ppo train"):
        controls(tmp_path)
    MLP(actor(1).layers, name="ppo").write(tmp_path / "a.safetensors")
    with pytest.raises(BadInput, match="no training seed"):
        controls(tmp_path)


def test_a_control_with_a_memory_is_refused(tmp_path):
    Student.untrained("gru_n64", 3).save(tmp_path / "3.safetensors")
    with pytest.raises(BadInput, match="gru_n64/3, which has a memory"):
        controls(tmp_path)


def test_the_reset_policy_is_a_policy_of_its_own(teacher):
    reset = with_reset(teacher)
    assert (reset.name, reset.sha256 != teacher.sha256) == ("teacher_reset", True)


def test_both_tests_are_played_written_and_judged(models, teacher, grids, tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "MIN_PPO_RATE", 0.0)
    monkeypatch.setattr(memory, "MAX_VISIBLE_GAP", 1.0)
    played = []
    result = stage(grids, progress=played.append).run(teacher, controls(models), tmp_path)
    assert result["state_reset"]["checks"]["identical_without_blackout"]
    assert [row["shots"] for row in result["memoryless"]["rows"]] == [4] * 5
    assert json.loads((tmp_path / "memory.json").read_text()) == json.loads(json.dumps(result))
    expected = {"state_reset": 40, "validation": 16, "memoryless": 40}
    for name, rows in expected.items():
        assert tables.read(tmp_path / f"{name}.parquet").num_rows == rows
    # The teacher's test grid is shared by both tests: 2 x 20 test, 4 x 4 validation, 20 of the selected control.
    assert sum(played) == 40 + 16 + 20
    again = stage(grids, progress=played.append).run(teacher, controls(models), tmp_path)
    assert again == result and sum(played) == 76


def test_the_test_stays_closed_when_nobody_qualifies(models, teacher, grids, tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "MIN_PPO_RATE", 1.1)
    result = stage(grids).run(teacher, controls(models), tmp_path)
    assert result["memoryless"] is None and not result["passed"]
    assert not (tmp_path / "memoryless.parquet").exists()
    assert {entry["comparison"] for entry in result["figure"]} == {"state_reset"}
    alone = stage(grids).evaluate(controls(models), tmp_path)
    assert alone["saves"] is None and not (tmp_path / "test.parquet").exists()


def test_the_control_alone_is_evaluated_for_every_seed(models, grids, tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "MIN_PPO_RATE", 0.0)
    result = stage(grids).evaluate(controls(models), tmp_path)
    assert set(result["saves"]) == {"1", "2", "3"}
    table = tables.read(tmp_path / "test.parquet")
    rows = [row for row in table.to_pylist() if row["training_seed"] == 2 and row["blackout"] == 5]
    assert result["saves"]["2"]["5"] == {"saves": sum(row["save"] for row in rows), "shots": 4}
