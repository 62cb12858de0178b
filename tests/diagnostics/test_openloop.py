"""What the world model believes about a hidden puck."""

import numpy as np
import pytest
from dreamer_cases import random_params

from blindsave.diagnostics import openloop
from blindsave.learning.dreamer.config import Config, Sizes
from blindsave.task.conditions import grid
from blindsave.task.interface import puck_m
from blindsave.task.shots import shots

SIZES = Sizes(19, 2, deter=16, hidden=8, categoricals=4, classes=4, blocks=2, units=16, bins=21)


CONFIG = Config(SIZES)


def test_open_loop_beliefs_have_the_shape_of_the_hidden_flight():
    episodes = grid(shots("validation")[:2], (20,))
    predictions = openloop.predict(random_params(SIZES, 1), CONFIG, episodes, futures=16, steps=8)
    assert len(predictions) == 2
    for p in predictions:
        assert p.truth.shape == p.mean.shape == p.std.shape == (8, 2)
        assert ((p.share >= 0) & (p.share <= 1)).all()
        assert np.isfinite(p.error_mm[p.share > 0]).all()
        assert (np.diff(p.truth[:, 0]) < 0).all()  # the puck comes towards the robot


def decoded(shares) -> np.ndarray:
    """One episode's decoded observations: of four futures per step, so many show the puck."""
    found = np.zeros((len(shares), 4, 19))
    for step, shown in enumerate(shares):
        found[step, :shown, 18] = 1.0
        found[step, :shown, 16] = np.linspace(-0.5, 0.5, shown) if shown > 1 else 0.0
        found[step, shown:, 16:18] = 99.0  # what is decoded of a puck that is not shown means nothing
    return found


def test_only_futures_that_show_the_puck_count():
    truth = np.tile(puck_m(np.zeros(2)), (3, 1))
    found = openloop._collect(decoded([4, 1, 0]), truth, 3)
    assert found.share.tolist() == [1.0, 0.25, 0.0]
    np.testing.assert_allclose(found.error_mm[:2], 0.0, atol=1e-9)
    assert found.std[0, 0] > 0.1 and found.std[1, 0] == 0.0
    assert np.isnan(found.mean[2]).all() and np.isnan(found.error_mm[2])


def test_a_prediction_ends_with_its_episode():
    found = openloop._collect(decoded([4, 4, 4]), np.zeros((3, 2)), 2)
    assert len(found.truth) == len(found.mean) == len(found.share) == 2
    assert found.first_step == 5


def test_the_error_is_the_distance_in_millimetres():
    one = openloop.Prediction(5, np.zeros((1, 2)), np.array([[0.003, 0.004]]), np.zeros((1, 2)), np.ones(1))
    assert one.error_mm.tolist() == pytest.approx([5.0])
