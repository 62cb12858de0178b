"""Every registered core keeps the contract; broken cores are caught by it."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from blindsave.policies.students import Family, MemoryCore, families, glorot, zeros
from blindsave.testing import contract

pytestmark = pytest.mark.usefixtures("quick_compilation")


@pytest.mark.parametrize("name", families())
@pytest.mark.parametrize("check", contract.CHECKS, ids=lambda check: check.__name__)
def test_core_keeps_the_contract(name, check):
    check(families()[name])


@dataclass(frozen=True)
class Leaky(MemoryCore):
    """A user's core: as small as the how-to promises."""

    width: int = 5

    @property
    def memory(self) -> int:
        return self.width

    def init(self, rng, seed):
        return {"W": glorot(rng, self.width, 34), "b": zeros(self.width)}

    def drive(self, ops, p, code, action):
        return (ops.linear(ops.concat(code, action), p["W"], p["b"]),)

    def advance(self, ops, p, memory, drive):
        return 0.9 * memory + ops.tanh(drive[0])


def test_a_users_core_passes_unregistered():
    contract.check_core("leaky", Leaky())


class WrongCombine(Leaky):
    def combine(self, ops, first, second):
        return (first[0] + second[0],)


class DeadParameter(Leaky):
    def init(self, rng, seed):
        return {**super().init(rng, seed), "unused": zeros(3)}


class TwoFaced(Leaky):
    def advance(self, ops, p, memory, drive):
        factor = 0.9 if isinstance(memory, np.ndarray) else 0.8
        return factor * memory + drive[0]


class Sticky(MemoryCore):
    recurrent: ClassVar[bool] = False

    def observe(self, ops, memory, observation):
        return memory, observation * np.float32("nan")


@pytest.mark.parametrize(
    ("core", "check"),
    [
        (WrongCombine(), contract.check_combine_is_associative),
        (DeadParameter(), contract.check_gradients),
        (TwoFaced(), contract.check_bits),
        (Sticky(), contract.check_sizes),
    ],
)
def test_broken_cores_are_caught(core, check):
    with pytest.raises(AssertionError):
        check(Family("broken", core))


def test_a_core_without_memory_of_the_past_is_caught():
    @dataclass(frozen=True)
    class Frozen(Leaky):
        def advance(self, ops, p, memory, drive):
            return 0.0 * memory + 1.0

        def drive(self, ops, p, code, action):
            return (code[..., : self.width],)

    with pytest.raises(AssertionError, match="past does not matter"):
        contract.check_history_matters(Family("frozen", Frozen()))
