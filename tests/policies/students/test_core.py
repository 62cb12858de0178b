"""The base of all cores: what a core that overrides nothing is, and the draws that cores share."""

from dataclasses import dataclass

import numpy as np
import pytest

from blindsave.policies.students.core import MemoryCore, glorot, zeros
from blindsave.policies.students.family import Family
from blindsave.policies.students.registry import families


def test_weights_are_drawn_in_double_precision_and_rounded():
    drawn = glorot(np.random.default_rng(3), 40, 60)
    expected = np.random.default_rng(3).standard_normal((40, 60)) * np.sqrt(2 / 100)
    assert drawn.dtype == np.float32
    np.testing.assert_array_equal(drawn, expected.astype(np.float32))
    assert float(drawn.std()) == pytest.approx(np.sqrt(0.02), rel=0.05)


def test_zeros_have_the_shape_asked_for():
    assert zeros(2, 3).shape == (2, 3) and zeros(2).dtype == np.float32 and not zeros(5).any()


def test_a_core_that_overrides_nothing_keeps_nothing_and_hands_on_what_it_sees():
    core = MemoryCore()
    seen = np.ones((2, 19), np.float32)
    memory, handed = core.observe(None, np.zeros((2, 0)), seen)
    assert memory.shape == (2, 0) and handed is seen
    assert core.memory == 0 and core.observed == 19 and core.init(np.random.default_rng(0), 0) == {}
    assert core.diagonal(None, {}) is None
    assert Family("bare", core).carry == 2  # recurrent by default: the previous action is kept


def test_steps_can_be_combined_only_where_a_core_says_how():
    core = MemoryCore()
    assert not core.associative
    with pytest.raises(NotImplementedError):
        core.combine(None, (), ())
    found = {name for name, family in families().items() if family.core.associative}
    assert found == {"structured_k0", "lru_n32", "mingru_n64"}


def test_cores_are_values_equal_where_their_sizes_are():
    @dataclass(frozen=True)
    class Sized(MemoryCore):
        width: int = 3

    assert Sized(4) == Sized(4) != Sized(5)
    assert len({Sized(4), Sized(4), Sized(5)}) == 2
