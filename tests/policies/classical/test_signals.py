"""Comparisons and choices inside a program."""

import numpy as np

from blindsave.policies.classical import signals
from blindsave.policies.native import ProgramPolicy
from blindsave.policies.trace import trace

F = np.float32


def program(function, inputs):
    return trace(lambda ops, carry, seen: (carry, function(ops, seen)), carry=0, observation=inputs)


def answer(function, *rows):
    rows = np.array(rows, F)
    made = program(function, rows.shape[1])
    none = np.zeros((len(rows), 0), F)
    _, expected = made.run(none, rows)
    assert np.array_equal(ProgramPolicy("test", made).step(none, rows)[1], expected)
    return expected.tolist()


def test_above_is_one_only_for_the_larger():
    assert answer(lambda ops, x: signals.above(ops, x, 2.0), [1], [2], [3]) == [[0], [0], [1]]
    assert answer(lambda ops, x: signals.above(ops, *signals.split(x, 1, 1)), [1, 2], [2, 1]) == [[0], [1]]


def test_choose_takes_one_of_two_exactly():
    def take(ops, x):
        flag, yes, no = signals.split(x, 1, 2, 2)
        return signals.choose(ops, flag, yes, no, 2)

    assert answer(take, [1, 0.1, 7, 3, 4], [0, 0.1, 7, 3, 4]) == [[F(0.1), 7], [3, 4]]


def test_best_is_the_first_of_the_lowest():
    assert answer(lambda ops, x: signals.best(ops, x, 3), [3, 1, 1], [0, 5, -0.5]) == [[0, 1, 0], [0, 0, 1]]


def test_spread_total_clamp_and_magnitude():
    assert answer(lambda ops, x: signals.spread(ops, x, 3), [4]) == [[4, 4, 4]]
    assert answer(lambda ops, x: signals.total(ops, x, 3), [1, 2, 4]) == [[7]]
    assert answer(lambda ops, x: signals.clamp(ops, x, -1.0, 2.0), [-3, 0, 3]) == [[-1, 0, 2]]
    assert answer(lambda ops, x: signals.magnitude(ops, x), [-3, 0, 3]) == [[3, 0, 3]]
