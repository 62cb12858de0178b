"""The long short-term memory: against its formulas."""

import numpy as np

from blindsave.policies import arithmetic
from blindsave.policies.students.lstm import LSTM, REMEMBER_AT_FIRST

CORE = LSTM(4)
RNG = np.random.default_rng(1)
P = CORE.init(RNG, 0)
CODE, ACTION = RNG.normal(size=32).astype(np.float32), np.array([0.3, -0.8], np.float32)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def test_a_step_is_the_textbooks():
    memory = RNG.normal(size=8).astype(np.float32)
    cell, shown = memory[:4].astype(float), memory[4:].astype(float)
    both = P["W_x"].astype(float) @ np.concatenate([CODE, ACTION]) + P["b"] + P["W_h"].astype(float) @ shown
    i, f, o, candidate = (both[4 * k : 4 * k + 4] for k in range(4))
    cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(candidate)
    found = CORE.advance(arithmetic, P, memory, CORE.drive(arithmetic, P, CODE, ACTION))
    np.testing.assert_allclose(found, np.concatenate([cell, sigmoid(o) * np.tanh(cell)]), atol=2e-6)


def test_an_untrained_cell_keeps_most_of_what_it_has():
    assert (P["b"][4:8] == REMEMBER_AT_FIRST).all()
    assert not P["b"][:4].any() and not P["b"][8:].any()
