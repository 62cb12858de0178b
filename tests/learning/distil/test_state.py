"""The state of a training: fresh, judged after an epoch, and as a list of leaves."""

import numpy as np

from blindsave.learning.distil.config import Recipe
from blindsave.learning.distil.state import Moments, State, fresh_state, judged, leaves, rebuild

RECIPE = Recipe(patience=2, improvement=0.01)


def start() -> State:
    return fresh_state([{"w": np.full(2, seed, np.float32)} for seed in (1.0, 2.0)])


def after(state: State, errors, value: float) -> State:
    params = {"w": np.full((2, 2), value, np.float32)}
    return judged(RECIPE, state, params, state.moments, np.float32(errors))


def test_a_fresh_state_holds_all_seeds_and_has_seen_nothing():
    state = start()
    assert state.params["w"].tolist() == [[1, 1], [2, 2]]
    assert np.isinf(state.best_loss).all() and not state.stopped.any() and not state.epoch.any()
    assert state.best["w"] is not state.params["w"]  # whoever writes into the parameters spares the best
    assert not state.moments.first["w"].any() and state.moments.first["w"].shape == (2, 2)


def test_each_seed_keeps_its_own_best():
    state = after(start(), [0.5, 0.9], 10.0)
    state = after(state, [0.6, 0.3], 20.0)
    assert state.best["w"].tolist() == [[10, 10], [20, 20]]
    assert state.best_loss.tolist() == [np.float32(0.5), np.float32(0.3)]
    assert state.best_epoch.tolist() == [1, 2] and state.waited.tolist() == [1, 0]
    assert state.params["w"].tolist() == [[20, 20], [20, 20]]


def test_too_small_an_improvement_counts_as_none():
    state = after(after(start(), [0.5, 0.5], 1.0), [0.495, 0.489], 2.0)
    assert state.best_epoch.tolist() == [1, 2]


def test_a_seed_stops_after_its_patience_and_then_stays():
    state = start()
    for epoch, errors in enumerate(([0.5, 0.5], [0.6, 0.4], [0.7, 0.3]), 1):
        state = after(state, errors, float(epoch))
    assert state.stopped.tolist() == [True, False]
    later = after(state, [np.nan, 0.2], 9.0)
    assert later.epoch.tolist() == [3, 4] and later.best_loss[0] == np.float32(0.5)
    better = after(state, [0.1, 0.2], 9.0)
    assert better.best_loss[0] == np.float32(0.5), "a seed that has stopped cannot improve"


def test_an_error_that_is_not_a_number_is_no_improvement():
    state = after(start(), [np.nan, 0.5], 5.0)
    assert np.isinf(state.best_loss[0]) and state.best["w"][0].tolist() == [1, 1]
    assert state.waited.tolist() == [1, 0]


def test_leaves_come_in_one_order_and_make_the_same_tree_again():
    tree = State({"b": 1, "a": 0}, Moments({"a": 2}, {"a": 3}, 4), {"a": 5}, 6, 7, 8, 9, 10)
    assert leaves(tree) == list(range(11))
    again = rebuild(tree, list("ABCDEFGHIJK"))
    assert isinstance(again, State) and isinstance(again.moments, Moments)
    assert again.params == {"a": "A", "b": "B"} and again.moments.count == "E" and again.stopped == "K"
