from dataclasses import replace

import numpy as np
import pytest

from blindsave.benchmark import trials
from blindsave.benchmark.budget import STANDARD, TRIAL
from blindsave.errors import BadFile
from blindsave.learning.distil.config import Recipe
from blindsave.policies.students.registry import family
from blindsave.task.shots import shots

TINY = replace(
    TRIAL, base_episodes=20, own_episodes=20, recipe=Recipe(epochs=1, batch=16), every=60, blackouts=(0, 20),
    holds=(0, 20), faults=("stale",), seeds=(1, 2),
)  # fmt: skip


def test_a_core_is_measured_in_both_tasks_the_same_way_twice():
    first, second = (trials.trial(family("gru_n1"), trials.Data(TINY)) for _ in range(2))
    assert first.figures == second.figures
    assert first.figures["paper"]["hidden_ms"] == [0, 400]
    assert first.figures["horizon"]["hold_ms"] == [0, 400]
    assert [one.provenance.seed for one in first.memory] == [1, 2]
    for part, points in (("paper", 2), ("horizon", 2), ("faults", 1)):
        for name in ("saved", "alias_saved", "alias_kept_out"):
            assert len(first.figures[part][name]) == points


def test_a_planner_that_is_told_the_truth_tops_every_curve():
    found = trials.classical("planner", replace(TINY, every=30))
    for part in ("paper", "horizon", "faults"):
        assert all(point["rate"] == 1.0 for point in found[part]["saved"])


def test_asked_shots_are_whole_units():
    units = [shot.unit for shot in trials.asked(STANDARD)]
    members = [shot.unit for shot in shots("validation")]
    assert {unit: units.count(unit) for unit in units} == {unit: members.count(unit) for unit in units}
    assert 100 < len(units) < 125


def test_a_rate_counts_shots_and_its_interval_holds_it():
    members = trials.asked(replace(TINY, every=20))
    good = np.zeros((2, len(members)), bool)
    good[0] = True
    found = trials.rate(good, members)
    assert found["rate"] == 0.5
    assert found["by_seed"] == [len(members), 0]
    assert 0 <= found["low"] < 0.5 < found["high"] <= 1


def test_the_teacher_is_found_by_what_it_is(tmp_path, monkeypatch):
    assert trials.teacher_file().is_file()
    monkeypatch.setenv("BLINDSAVE_MODELS", str(tmp_path))
    with pytest.raises(BadFile, match="is not among the models"):
        trials.teacher_file()
