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


class OtherwiseInTraining(Leaky):
    """Only the tracer of the trainer in C is told something else; parameters are symbols nowhere but there."""

    def advance(self, ops, p, memory, drive):
        factor = 0.9 if hasattr(p["b"], "dtype") else 0.8
        return factor * memory + ops.tanh(drive[0])


class LinearSum(Leaky):
    """Steps that can be combined."""

    def advance(self, ops, p, memory, drive):
        return memory + drive[0]


class SkipsInScans(LinearSum):
    """An associative way of combining steps that is not the one of the steps."""

    def combine(self, ops, first, second):
        return (second[0],)


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
        (TwoFaced(), contract.check_training_equals_steps),
        (OtherwiseInTraining(), contract.check_training_equals_steps),
        (OtherwiseInTraining(), contract.check_gradients),
        (SkipsInScans(), contract.check_training_equals_steps),
        (Sticky(), contract.check_sizes),
    ],
)
def test_broken_cores_are_caught(core, check):
    with pytest.raises(AssertionError):
        check(Family("broken", core))


def test_a_trainer_whose_episodes_do_not_start_afresh_is_caught(monkeypatch):
    from blindsave.learning.distil import model

    advance_all = model.advance_all
    monkeypatch.setattr(model, "advance_all", lambda core, p, memory, *rest: advance_all(core, p, memory + 0.01, *rest))
    with pytest.raises(AssertionError, match="JAX trainer with its sequential scan differs from the steps"):
        contract.check_training_equals_steps(Family("stale", Leaky()))


def test_a_core_without_memory_of_the_past_is_caught():
    @dataclass(frozen=True)
    class Frozen(Leaky):
        def advance(self, ops, p, memory, drive):
            return 0.0 * memory + 1.0

        def drive(self, ops, p, code, action):
            return (code[..., : self.width],)

    with pytest.raises(AssertionError, match="past does not matter"):
        contract.check_history_matters(Family("frozen", Frozen()))
