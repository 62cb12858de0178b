"""A policy step as a short list of canonical operations: the one form that every way of running a policy reads.

A `Program` maps (carry, observation) to (carry, action). Its operations read and write slots of one small float32
tape, which begins with the carry and the observation, and read constants (weights and vectors). The NumPy run below
is the oracle; the C kernel, the C header and the ONNX graph are other readings of the same list.
"""

import operator
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from blindsave.errors import BadInput
from blindsave.policies import arithmetic
from blindsave.policies.arithmetic import Array

UNARY = ("copy", "silu", "tanh", "sigmoid", "exp", "log", "sqrt", "symlog", "bound")
BINARY = ("add", "sub", "mul", "div", "maximum", "minimum")
KINDS = (*UNARY, *BINARY, "linear", "rmsnorm", "onehot")
"""Every operation; the position in this list is the operation's number in the C kernel."""
PLAIN: dict[str, Callable[..., Any]] = {"copy": lambda x: x, "add": operator.add, "sub": operator.sub}
PLAIN |= {"mul": operator.mul, "div": operator.truediv}
"""Operations for which NumPy's own are canonical."""


class Slot(NamedTuple):
    """A stretch of the tape."""

    offset: int
    size: int


class Const(NamedTuple):
    """The constant with this number."""

    number: int


@dataclass(frozen=True)
class Op:
    """One operation: `kind` of `args`, written to `out`.

    linear: args (x, weight, start). rmsnorm: args (x, scale), `number` is eps. onehot: `number` is the class count.
    """

    kind: str
    out: Slot
    args: tuple[Slot | Const, ...]
    number: float = 0.0


@dataclass(frozen=True)
class Program:
    """Operations in order, the constants they read, and where the results are found."""

    carry: int
    observation: int
    action: int
    tape: int
    """Floats of working memory, the carry and the observation included."""
    ops: tuple[Op, ...]
    constants: tuple[Array, ...]
    learned: tuple[bool, ...]
    """Per constant: does it come from parameters (True) or is it a written number (False)?"""
    carry_out: Slot | Const
    action_out: Slot | Const

    @property
    def carry_in(self) -> Slot:
        """Where the tape holds the carry."""
        return Slot(0, self.carry)

    @property
    def observation_in(self) -> Slot:
        """Where the tape holds the observation."""
        return Slot(round_up(self.carry), self.observation)

    def weight(self, op: Op) -> Array:
        """The matrices of a linear map, (blocks, outputs, inputs)."""
        assert isinstance(op.args[1], Const)
        array = self.constants[op.args[1].number]
        return array.reshape(-1, *array.shape[-2:])

    def run(self, carry: Array, observation: Array) -> tuple[Array, Array]:
        """Take one step for rows of carries and observations with the NumPy reference."""
        rows = observation.shape[0]
        tape = np.zeros((rows, self.tape), np.float32)

        def read(arg: Slot | Const) -> Any:
            if isinstance(arg, Const):
                return self.constants[arg.number]
            return tape[:, arg.offset : arg.offset + arg.size]

        read(self.carry_in)[:] = carry
        read(self.observation_in)[:] = observation
        for op in self.ops:
            read(op.out)[:] = apply(op.kind, [read(arg) for arg in op.args], op.number)
        return (
            np.broadcast_to(read(self.carry_out), (rows, self.carry)).astype(np.float32),
            np.broadcast_to(read(self.action_out), (rows, self.action)).astype(np.float32),
        )


def round_up(size: int) -> int:
    """The next multiple of the lane count: every slot and constant starts on one."""
    return -(-size // arithmetic.LANES) * arithmetic.LANES


def apply(kind: str, args: Sequence[Any], number: float = 0.0) -> Array:
    """Carry out an operation by name on NumPy arrays, in the canonical arithmetic."""
    if kind not in KINDS:
        raise BadInput(f"there is no operation `{kind}`")
    setting = {"rmsnorm": (number,), "onehot": (int(number),)}.get(kind, ())
    with np.errstate(all="ignore"):
        return (PLAIN.get(kind) or getattr(arithmetic, kind))(*args, *setting)


class Pieces:
    """Which value lies on which stretch of the tape, for readers whose values cannot be overwritten in part."""

    def __init__(self, cut: Callable[[Any, int, int], Any], join: Callable[[list[Any]], Any]) -> None:
        self._cut, self._join = cut, join
        self._held: list[tuple[int, int, Any]] = []  # (start, stop, value), in order of start

    def write(self, slot: Slot, value: Any) -> None:
        """The stretch now holds this value; parts of older values that it covers are gone."""
        start, stop = slot.offset, slot.offset + slot.size
        before = self._between(0, start) + self._between(stop, sys.maxsize)
        self._held = sorted([*before, (start, stop, value)], key=lambda piece: piece[0])

    def read(self, slot: Slot) -> Any:
        """What lies on a stretch, cut and joined as needed."""
        parts = [value for _, _, value in self._between(slot.offset, slot.offset + slot.size)]
        return parts[0] if len(parts) == 1 else self._join(parts)

    def _between(self, start: int, stop: int) -> list[tuple[int, int, Any]]:
        found = []
        for a, b, value in self._held:
            x, y = max(a, start), min(b, stop)
            if x < y:
                found.append((x, y, value if (x, y) == (a, b) else self._cut(value, x - a, y - a)))
        return found
