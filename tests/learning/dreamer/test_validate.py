"""Validation: a row per checkpoint and mode, lanes that do not meet, and the winner."""

import numpy as np
import pytest
from dreamer_cases import random_params

from blindsave.errors import BadInput
from blindsave.learning.dreamer import checkpoint, validate
from blindsave.learning.dreamer.config import Config, Sizes
from blindsave.task.conditions import grid
from blindsave.task.shots import shots

SIZES = Sizes(19, 2, deter=16, hidden=8, categoricals=4, classes=4, blocks=2, units=16, bins=21)


CONFIG = Config(SIZES)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run's folder with three checkpoints of random agents."""
    root = tmp_path_factory.mktemp("run")
    for step in (0, 20, 40):
        checkpoint.Folder(root).save_params(step, random_params(SIZES, step), CONFIG)
    return root


def test_validation_gives_a_row_per_checkpoint_and_mode_and_repeats_exactly(folder):
    rows = validate.validate(folder, lengths=(0, 20), shot_count=4)
    assert [(r["step"], r["mode"]) for r in rows] == [(s, m) for s in (0, 20, 40) for m in ("deterministic", "sampled")]
    for row in rows:
        assert row["episodes"] == 8
        assert sum(row["outcomes"].values()) == 8
        assert row["save_rate"] == row["saves"] / 8
        assert np.mean(list(row["save_rate_by_length"].values())) == pytest.approx(row["save_rate"])
        assert row["faults"] == 0
    assert validate.validate(folder, lengths=(0, 20), shot_count=4, steps=[20], known=rows) == rows
    again = validate.validate(folder, lengths=(0, 20), shot_count=4, steps=[20])
    assert again == [r for r in rows if r["step"] == 20]


def test_lanes_do_not_influence_each_other(folder):
    params, config = checkpoint.Folder(folder).load_params(20)
    episodes = grid(shots("validation")[:3], (0, 10))
    together = validate.Evaluator(config, episodes).run(params)
    for i, episode in enumerate(episodes):
        alone = validate.Evaluator(config, [episode]).run(params)
        assert alone.outcome[0] == together.outcome[i]
        assert alone.steps[0] == together.steps[i]


def test_selection_prefers_save_rate_then_score_then_the_earlier_step():
    def row(step, rate, score, mode="sampled"):
        return {"step": step, "save_rate": rate, "score": score, "mode": mode}

    table = [
        row(0, 0.5, 0.9),
        row(20, 0.9, 0.7),
        row(40, 0.9, 0.8),
        row(60, 0.9, 0.8),
        row(80, 1.0, 1.0, "deterministic"),
    ]
    assert validate.select(table)["step"] == 40
    with pytest.raises(BadInput, match="no rows of mode"):
        validate.select(table[:4], "deterministic")
