"""The oscillators: against complex numbers."""

import numpy as np
import pytest

from blindsave.policies import arithmetic
from blindsave.policies.students.core import CODE_FLOATS
from blindsave.policies.students.lru import LARGEST_ANGLE, LRU
from blindsave.policies.students.structured import decay_logits

CORE = LRU(6)
RNG = np.random.default_rng(0)
P = CORE.init(RNG, 0) | {"b": RNG.normal(size=12).astype(np.float32)}
CODE, ACTION = RNG.normal(size=CODE_FLOATS).astype(np.float32), np.array([0.3, -0.8], np.float32)


def poles() -> np.ndarray:
    p = {name: array.astype(np.float64) for name, array in P.items()}
    return np.tanh(p["alpha"]) * np.exp(2j * np.arctan(p["t"]))


def test_a_step_is_a_decaying_rotation_and_a_push():
    memory = RNG.normal(size=12).astype(np.float32)
    p = {name: array.astype(np.float64) for name, array in P.items()}
    push = p["gamma"] * (p["B"] @ np.concatenate([CODE, ACTION]).astype(np.float64) + p["b"])
    expected = poles() * (memory[:6] + 1j * memory[6:]) + push[:6] + 1j * push[6:]
    found = CORE.advance(arithmetic, P, memory, CORE.drive(arithmetic, P, CODE, ACTION))
    np.testing.assert_allclose(found, [*expected.real, *expected.imag], atol=2e-6)


def test_angles_spread_from_zero_and_radii_are_those_of_the_structured_memory():
    np.testing.assert_allclose(np.angle(poles()), np.linspace(0, LARGEST_ANGLE, 6), atol=1e-6)
    np.testing.assert_allclose(np.abs(poles()), np.tanh(decay_logits(6)), rtol=1e-6)


def test_oscillators_are_equally_loud_whatever_their_decay():
    """Driven by white noise, a pole of radius r holds variance gamma^2 / (1 - r^2)."""
    loudness = P["gamma"][:6].astype(float) ** 2 / (1 - np.abs(poles()) ** 2)
    np.testing.assert_allclose(loudness, 1.0, rtol=1e-4)
    np.testing.assert_array_equal(P["gamma"][:6], P["gamma"][6:])


def test_many_steps_in_one_equal_steps_in_turn():
    drives = [CORE.drive(arithmetic, P, CODE * scale, ACTION) for scale in np.float32([1, -2, 0.5, 3])]
    memory = turn = RNG.normal(size=12).astype(np.float32)
    joined = drives[0]
    for drive in drives[1:]:
        joined = CORE.combine(arithmetic, joined, drive)
    for drive in drives:
        turn = CORE.advance(arithmetic, P, turn, drive)
    np.testing.assert_allclose(CORE.advance(arithmetic, P, memory, joined), turn, atol=1e-5)


@pytest.mark.parametrize("pairs", [1, 32])
def test_the_memory_has_two_floats_per_oscillator(pairs):
    assert LRU(pairs).memory == 2 * pairs
    assert {name: array.shape[0] for name, array in LRU(pairs).init(RNG, 0).items()} == {
        "alpha": pairs, "t": pairs, "gamma": 2 * pairs, "B": 2 * pairs, "b": 2 * pairs,
    }  # fmt: skip
