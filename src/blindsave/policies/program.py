"""A policy step as a short list of canonical operations: the one form that every way of running a policy reads.

A `Program` maps (carry, observation) to (carry, action). Its operations read and write slots of one small float32
tape, which begins with the carry and the observation, and read constants (weights and vectors). The NumPy run below
is the oracle; the C kernel, the C header and the ONNX graph are other readings of the same list.
"""

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

    def run(self, carry: Array, observation: Array) -> tuple[Array, Array]:
        """Take one step for rows of carries and observations with the NumPy reference."""
        rows = observation.shape[0]
        tape = np.zeros((rows, self.tape), np.float32)

        def read(arg: Slot | Const) -> Any:
            if isinstance(arg, Const):
                return self.constants[arg.number]
            return tape[:, arg.offset : arg.offset + arg.size]

        tape[:, : self.carry] = carry
        start, size = self.observation_in
        tape[:, start : start + size] = observation
        for op in self.ops:
            tape[:, op.out.offset : op.out.offset + op.out.size] = evaluate(op, [read(arg) for arg in op.args])
        return (
            np.broadcast_to(read(self.carry_out), (rows, self.carry)).astype(np.float32),
            np.broadcast_to(read(self.action_out), (rows, self.action)).astype(np.float32),
        )


def round_up(size: int) -> int:
    """The next multiple of the lane count: every slot and constant starts on one."""
    return -(-size // arithmetic.LANES) * arithmetic.LANES


def evaluate(op: Op, args: list[Any]) -> Array:
    """Carry out one operation on NumPy arrays."""
    return apply(op.kind, args, op.number)


def apply(kind: str, args: list[Any], number: float = 0.0) -> Array:
    """Carry out an operation by name on NumPy arrays, in the canonical arithmetic."""
    with np.errstate(all="ignore"):
        match kind:
            case "copy":
                return args[0]
            case "add":
                return args[0] + args[1]
            case "sub":
                return args[0] - args[1]
            case "mul":
                return args[0] * args[1]
            case "div":
                return args[0] / args[1]
            case "rmsnorm":
                return arithmetic.rmsnorm(args[0], args[1], number)
            case "onehot":
                return arithmetic.onehot(args[0], int(number))
            case _ if kind in KINDS:
                return getattr(arithmetic, kind)(*args)
    raise BadInput(f"there is no operation `{kind}`")
