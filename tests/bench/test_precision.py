"""Teachers in two precisions: float32 as the frozen policy plays, bfloat16 rounded, and nothing else different."""

import json
from pathlib import Path

import pytest

from blindsave.cli import execute
from blindsave.errors import BadInput
from blindsave.policies import closed_loop
from blindsave.policies.catalog import load
from blindsave.policies.dreamer import AgentShape
from blindsave.policies.files import read_policy
from blindsave.task.conditions import grid
from blindsave.task.shots import shots

precision = pytest.importorskip("blindsave.bench.precision")
ROOT = Path(__file__).parents[2]
EPISODES = grid(shots("validation")[:6], (0, 5, 10, 15, 20))


@pytest.fixture(scope="module")
def teacher():
    parameters, about = read_policy(ROOT / "models/teacher/teacher.safetensors")
    return parameters, AgentShape(**about["shape"])


def test_in_float32_the_learners_step_ends_episodes_as_the_frozen_policy_does(teacher):
    ours = closed_loop.run(load("teacher"), EPISODES)
    found = precision.play(*teacher, EPISODES, "float32")
    assert (found.outcome == ours.outcome).all() and (found.steps == ours.steps).all()


def test_bfloat16_is_another_arithmetic(teacher):
    one, other = (precision.play(*teacher, EPISODES, name) for name in precision.PRECISIONS)
    assert (one.steps != other.steps).any()
    told = precision.in_both(*teacher, EPISODES)
    assert told["bfloat16"]["saves"] - told["float32"]["saves"] == told["gained"] - told["lost"]


@pytest.mark.parametrize("name", ["structured_k0/14303", "fixed_centre"])
def test_what_has_one_precision_is_refused(name):
    with pytest.raises(BadInput, match="no frozen teacher"):
        execute(["bench", "precision", name])


def test_the_page_says_what_the_stored_figures_say():
    kept = json.loads((ROOT / "results/bench/precision.json").read_text())["teachers"]
    changes = {name: (one["gained"], one["lost"]) for name, one in kept.items()}
    assert len(kept) == 11
    table = (ROOT / "docs/teacher.md").read_text()
    usual = [gained - lost for name, (gained, lost) in changes.items() if name != "faithful_7307"]
    hidden = [kept["faithful_7307"][name]["save_rate_by_length"]["20"] for name in precision.PRECISIONS]
    assert f"of 1,125 saves, {min(usual):+d} to {max(usual):+d} for ten of eleven teachers" in " ".join(table.split())
    assert f"7307 at 400 ms from {100 * hidden[0]:.1f} to {100 * hidden[1]:.1f} %" in " ".join(table.split())
