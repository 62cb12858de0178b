import numpy as np
import pytest

from blindsave.task.controllers import hold, intercept, normalise_mallet, stay_central


def test_hold_repeats_the_mallet_it_sees():
    obs = np.arange(38, dtype=np.float32).reshape(2, 19)
    assert hold(obs).tolist() == [[14, 15], [33, 34]]


def test_stay_central_is_the_start_of_the_mallet():
    action = stay_central(np.zeros((3, 19), np.float32))
    assert action.dtype == np.float32
    np.testing.assert_allclose(action, [[-0.8504, 0.0]] * 3, atol=5e-5)


def test_intercept_meets_a_straight_shot_on_its_line():
    action = intercept(np.array([[1.75, 0.1, -2.0, -0.2]]))
    np.testing.assert_allclose(action, normalise_mallet(np.array([[0.75, 0.0]])), atol=1e-7)


@pytest.mark.parametrize(
    "truth", [[1.75, 0.2, 1.0, -0.2], [0.7, 0.2, -1.0, 5.0], [1.75, 0.2, 0.0, 3.0], [1.75, 0.2, -1e-7, 3.0]]
)
def test_intercept_follows_sideways_what_will_not_cross(truth):
    np.testing.assert_allclose(intercept(np.array([truth])), normalise_mallet(np.array([[0.75, 0.2]])), atol=1e-7)


def test_intercept_stays_in_reach():
    action = intercept(np.array([[1.75, 0.4, -0.1, 4.0], [1.75, -0.4, -0.1, -4.0]]))
    assert action[:, 1].tolist() == [1.0, -1.0]


def test_rows_do_not_mix():
    truths = np.random.default_rng(0).normal(size=(50, 4))
    alone = np.concatenate([intercept(row[None]) for row in truths])
    assert np.array_equal(alone, intercept(truths))
