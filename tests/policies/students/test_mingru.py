"""The minimal gated unit: against its formulas."""

import numpy as np

from blindsave.policies import arithmetic
from blindsave.policies.students.core import glorot
from blindsave.policies.students.mingru import MinGRU

CORE = MinGRU(5)
RNG = np.random.default_rng(1)
P = CORE.init(RNG, 0) | {"b": RNG.normal(size=10).astype(np.float32)}
CODE, ACTION = RNG.normal(size=32).astype(np.float32), np.array([0.3, -0.8], np.float32)


def test_a_step_is_a_leaky_integrator_whose_leak_the_inputs_choose():
    memory = RNG.normal(size=5).astype(np.float32)
    both = P["W"].astype(float) @ np.concatenate([CODE, ACTION]) + P["b"]
    update = 1 / (1 + np.exp(-both[:5]))
    expected = (1 - update) * memory + update * both[5:]
    found = CORE.advance(arithmetic, P, memory, CORE.drive(arithmetic, P, CODE, ACTION))
    np.testing.assert_allclose(found, expected, atol=2e-6)


def test_gate_and_candidate_are_drawn_one_after_the_other():
    params, rng = CORE.init(np.random.default_rng(9), 0), np.random.default_rng(9)
    np.testing.assert_array_equal(params["W"][:5], glorot(rng, 5, 34))
    np.testing.assert_array_equal(params["W"][5:], glorot(rng, 5, 34))


def test_two_steps_in_one_equal_two_steps():
    one, two = (CORE.drive(arithmetic, P, CODE * scale, ACTION) for scale in np.float32([1, -2]))
    memory = RNG.normal(size=5).astype(np.float32)
    turn = CORE.advance(arithmetic, P, CORE.advance(arithmetic, P, memory, one), two)
    np.testing.assert_allclose(CORE.advance(arithmetic, P, memory, CORE.combine(arithmetic, one, two)), turn, atol=1e-6)


def test_a_shut_gate_keeps_and_an_open_one_replaces():
    memory = np.linspace(-2, 2, 5).astype(np.float32)
    for bias, kept in ((-40.0, True), (40.0, False)):
        p = {"W": np.zeros((10, 34), np.float32), "b": np.float32([bias] * 5 + [7.0] * 5)}
        found = CORE.advance(arithmetic, p, memory, CORE.drive(arithmetic, p, CODE, ACTION))
        np.testing.assert_allclose(found, memory if kept else np.full(5, 7.0), atol=1e-5)
