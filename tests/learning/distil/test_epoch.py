"""One compiled epoch: seeds that have stopped stay, and the ways of running it agree."""

import numpy as np
import pytest

from blindsave.learning.distil.config import Recipe
from blindsave.learning.distil.execution import Execution
from blindsave.learning.distil.jax_trainer import JaxTrainer
from blindsave.policies.students import Family
from blindsave.policies.students.feed_forward import FeedForward
from blindsave.testing.training import random_episodes

pytestmark = pytest.mark.usefixtures("quick_compilation")

SMALL, DATA = Family("plain", FeedForward()), random_episodes([4, 7, 2, 9, 1] * 4)
RECIPE = Recipe(batch=6, chunk=16, learning_rate=1e-2, epochs=2)
IN_TURN = Execution("in_turn", 16, 1, 8)
TOGETHER = Execution("together", 4, 1, 1000)


@pytest.fixture(scope="module")
def trained():
    """Both ways of running, the second seed stopped."""
    found = {}
    for how in (IN_TURN, TOGETHER):
        trainer = JaxTrainer(SMALL, DATA, [1, 2], RECIPE, how)
        state = trainer.initial()._replace(stopped=np.array([False, True]))
        found[how.seeds] = trainer, state, trainer.train(state, trainer.batches(1))
    return found


def test_ways_of_running_give_the_same_numbers(trained):
    (_, _, one), (_, _, other) = trained.values()
    for name, value in one[0].items():
        np.testing.assert_allclose(value, other[0][name], rtol=1e-3, atol=1e-5, err_msg=name)
    for a, b in zip(one[2], other[2], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3)


@pytest.mark.parametrize("seeds", ["in_turn", "together"])
def test_a_stopped_seed_stays_where_it_is_and_reports_nothing(trained, seeds):
    _, state, (params, moments, metrics) = trained[seeds]
    for name, before in state.params.items():
        np.testing.assert_array_equal(params[name][1], before[1])
        assert not np.array_equal(params[name][0], before[0]), name
    assert moments.count.tolist() == [3, 0]  # 16 training episodes in batches of 6
    for values in metrics:
        assert np.isfinite(values[0]) and np.isnan(values[1])


def test_evaluation_after_training_is_the_reported_validation(trained):
    trainer, _, (params, _, metrics) = trained["in_turn"]
    errors = trainer.evaluate(params, "validation")
    assert errors[0] == pytest.approx(metrics.validation_loss[0], rel=1e-6)


def test_trainings_of_different_lengths_share_a_program():
    longer = JaxTrainer(SMALL, DATA, [1], Recipe(**vars(RECIPE) | {"epochs": 9}), IN_TURN)
    shorter = JaxTrainer(SMALL, DATA, [1], RECIPE, IN_TURN)
    assert longer.setting.recipe == shorter.setting.recipe
