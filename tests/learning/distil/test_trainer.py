"""What all trainers share: the order of batches, the number of steps, and an epoch that is judged."""

import numpy as np

from blindsave.learning.distil.config import Recipe
from blindsave.learning.distil.layout import permutation
from blindsave.learning.distil.state import Metrics
from blindsave.learning.distil.trainer import Trainer
from blindsave.policies.students import Family
from blindsave.policies.students.structured import Structured
from blindsave.testing.training import random_episodes

SMALL, DATA = Family("small", Structured(0, 3)), random_episodes([4, 7, 2, 9, 1] * 6)


class Counting(Trainer):
    """Adds one to every parameter; its validation error is what it is told."""

    error = 0.5

    def train(self, state, order):
        self.order = order
        errors = np.full(len(self.seeds), self.error, np.float32)
        return {name: value + 1 for name, value in state.params.items()}, state.moments, Metrics(errors, errors, errors)

    def evaluate(self, params, part):
        return np.zeros(len(self.seeds), np.float32)


def trainer(**recipe) -> Counting:
    return Counting(SMALL, DATA, [5, 6], Recipe(**{"batch": 10, "patience": 1} | recipe))


def test_an_epoch_serves_every_training_episode_once_in_the_order_of_its_seed():
    made = trainer()
    order = made.batches(3)
    assert order.shape == (2, 3, 10)
    for seed, own in zip((5, 6), order, strict=True):
        served = own[own >= 0]
        assert sorted(served) == made.parts["train"].tolist()
        expected = made.parts["train"][permutation(seed, 3, 24)]
        assert set(own[0]) == set(expected[:10])
    assert not np.array_equal(made.batches(3), made.batches(4))


def test_a_batch_is_no_larger_than_the_data():
    assert trainer(batch=1000).batch == 24
    assert trainer(batch=1000).batches(1).shape == (2, 1, 24)


def test_real_steps_are_counted_without_padding():
    made = trainer()
    assert made.valid_transitions == int(DATA.steps[made.parts["train"]].sum())


def test_all_seeds_start_from_their_own_parameters():
    state = trainer().initial()
    for place, seed in enumerate((5, 6)):
        for name, value in SMALL.init(seed).items():
            np.testing.assert_array_equal(state.params[name][place], value)


def test_an_epoch_is_trained_on_its_batches_and_judged():
    made = trainer()
    state, metrics = made.run_epoch(made.initial(), 1)
    np.testing.assert_array_equal(made.order, made.batches(1))
    assert state.best_loss.tolist() == [0.5, 0.5] and not state.stopped.any()
    assert metrics.validation_loss.tolist() == [0.5, 0.5]
    again, _ = made.run_epoch(state, 2)
    assert again.stopped.all() and again.best_epoch.tolist() == [1, 1]
