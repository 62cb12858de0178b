"""The memory commands: what they print, and that wrong input is one sentence."""

import json
import sys

import numpy as np
import pytest

from blindsave import cli
from blindsave.cli.memory import MemoryTest, PPOEvaluate
from blindsave.evidence import memory
from blindsave.policies.mlp import MLP
from blindsave.policies.students.student import Student


@pytest.fixture
def models(tmp_path):
    folder = tmp_path / "models"
    for seed in (1, 2):
        rng = np.random.default_rng(seed)
        layers = ((rng.normal(0, 0.3, (2, 19)), rng.normal(0, 0.3, 2)),)
        MLP(layers, name=f"ppo/{seed}").write(folder / f"{seed}.safetensors")
    return folder


def call(capsys, *args):
    cli.execute([*map(str, args)])
    return capsys.readouterr().out


@pytest.fixture
def arguments(tmp_path, models):
    student = tmp_path / "student.safetensors"
    Student.untrained("gru_n64", 14303).save(student)
    places = ["--models", models, "--out", tmp_path / "out", "--grids", tmp_path / "grids", "--threads", 1]
    return ["memory-test", "--teacher", student, "--shots", 2, *places]


def test_memory_test_prints_one_json_object(capsys, arguments, tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "MIN_PPO_RATE", 0.0)
    monkeypatch.setattr(memory, "MAX_VISIBLE_GAP", 1.0)
    result = json.loads(call(capsys, *arguments, "--json"))
    assert result["teacher"]["policy"] == "gru_n64/14303"
    assert [row["blackout"] for row in result["state_reset"]["rows"]] == [0, 5, 10, 15, 20]
    assert result["state_reset"]["checks"]["identical_without_blackout"]
    assert result["tables"] == str(tmp_path / "out")
    MemoryTest().show(result)
    shown = capsys.readouterr().out
    assert "state reset: test split, 2 shots per length" in shown and "memoryless: test split" in shown


def test_memory_test_says_when_no_control_qualifies(capsys, arguments, monkeypatch):
    monkeypatch.setattr(memory, "MIN_PPO_RATE", 1.1)
    assert "no memoryless control qualifies (visible_rate" in call(capsys, *arguments)


def test_evaluation_of_the_control_shows_every_seed(capsys):
    candidates = [{"training_seed": seed, "rate": rate} for seed, rate in ((1, 0.8), (2, 0.5))]
    selection = {"candidates": candidates, "selected": 1, "qualified": True}
    cells = {"0": {"saves": 9, "shots": 10}, "20": {"saves": 3, "shots": 10}}
    PPOEvaluate().show({"selection": selection, "saves": {"1": cells, "2": cells}})
    shown = capsys.readouterr().out
    assert "1 selected" in shown and "80.0 %" in shown and "30.0 %" in shown
    PPOEvaluate().show({"selection": selection | {"qualified": False}, "saves": None})
    assert "stays closed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["memory-test", "--teacher", "nobody"], "nobody"),
        (["ppo", "evaluate", "--models", "nowhere"], "nowhere holds no PPO policy"),
        (["ppo", "train", "--seeds", "1", "1"], "distinct seeds"),
        (["ppo"], "`ppo` needs one of: train, evaluate"),
    ],
)
def test_wrong_input_is_one_sentence(capsys, monkeypatch, args, said):
    monkeypatch.setattr(sys, "argv", ["blindsave", *args])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    error = capsys.readouterr().err
    assert stopped.value.code == 2 and said in error and error.count("\n") == 1


def test_ppo_train_makes_an_actor_and_a_curve(capsys, tmp_path):
    pytest.importorskip("stable_baselines3")
    places = ["--folder", tmp_path / "runs", "--out", tmp_path / "models", "--curve", tmp_path / "curve.parquet"]
    result = json.loads(call(capsys, "ppo", "train", "--seeds", 14305, "--steps", 1, *places, "--json"))
    assert result["seeds"]["14305"]["steps"] == 2048  # one whole rollout
    assert (tmp_path / "models" / "14305.safetensors").is_file() and (tmp_path / "curve.parquet").is_file()
