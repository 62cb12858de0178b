"""A student in whole numbers: weights of 8 or 16 bits, sums of 32, no floating-point unit.

Every value of a step is a fixed-point number of 24 bits in an int32, saturating; `quantise` finds its binary point from
recorded episodes. A linear map rounds its inputs to 16 bits, multiplies them by weights whose scale is chosen row by
row so that no sum can leave 32 bits (`rounding`), and scales the sum back. The NumPy run below is the reference; the
exported C (`integer_header`) repeats it and must agree in every bit. docs/deploy.md has the formats.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from blindsave.policies.arithmetic import Array
from blindsave.policies.program import Program, Slot

Integers = Literal["int8", "int16"]
WEIGHT_LIMIT: dict[Integers, int] = {"int8": 127, "int16": 32767}
Whole = NDArray[np.int64]

VALUE_BITS = 23
"""Bits of a value, its sign not counted."""
VALUE_LIMIT = (1 << VALUE_BITS) - 1
INPUT_SHIFT = 8
"""Bits a linear map's inputs lose to become 16 bits wide."""
INPUT_LIMIT = 32767
SUM_LIMIT = (1 << 31) - 1
OBSERVATION_POINT = 22
"""Observations lie in [-1, 1] and come in units of 2**-22."""
ACTION_POINT = 23
"""Actions leave in units of 2**-23."""

TABLE_STEP_BITS, TABLE_INPUT_POINT, TABLE_LAST = 12, 16, 256
"""The logistic function between 0 and 16 in steps of 1/16, in units of 2**-15, joined by straight lines."""
SIGMOID_POINT = 23


@cache
def sigmoid_table() -> Whole:
    """The table, rounded to the nearest."""
    x = np.arange(TABLE_LAST + 1) / 16.0
    return np.floor(32768.0 / (1.0 + np.exp(-x)) + 0.5).astype(np.int64)


def shifted(x: Any, bits: int) -> Any:
    """Divide by 2**bits, rounded to the nearest, halves upwards; negative bits multiply."""
    return (x + (1 << (bits - 1))) >> bits if bits > 0 else x * (1 << -bits)


def saturated(x: Any, limit: int = VALUE_LIMIT) -> Any:
    """The nearest value within the limits."""
    return np.clip(x, -limit, limit)


def sigmoid(x: Whole, point: int) -> Whole:
    """The logistic function of values with this binary point, in units of 2**-23."""
    x = shifted(x, point - TABLE_INPUT_POINT)
    size = np.minimum(np.abs(x), (TABLE_LAST << TABLE_STEP_BITS) - 1)
    at, rest = size >> TABLE_STEP_BITS, size & ((1 << TABLE_STEP_BITS) - 1)
    table = sigmoid_table()
    y = (table[at] << TABLE_STEP_BITS) + (table[at + 1] - table[at]) * rest
    y = shifted(y, 15 + TABLE_STEP_BITS - SIGMOID_POINT)
    return np.where(x < 0, (1 << SIGMOID_POINT) - y, y)


@dataclass(frozen=True, eq=False)
class Rows:
    """A linear map in whole numbers: sum = bias + weight * input, result = sum * factor / 2**shift."""

    weight: Whole
    bias: Whole
    factor: Whole
    shift: int


@dataclass(frozen=True, eq=False)
class Step:
    """One operation on the tape; `points` are the binary points of its arguments and of its result."""

    kind: str
    out: Slot
    args: tuple[Slot | Whole, ...]
    points: tuple[int, ...]
    point: int
    rows: Rows | None = None


@dataclass(frozen=True, eq=False)
class IntegerProgram:
    """The operations of a program in whole numbers; carry and action are moved to fixed binary points at the end."""

    source: Program
    integers: Integers
    steps: tuple[Step, ...]
    carry_moves: tuple[tuple[Slot, int], ...]
    """Stretches of the tape that become the carry, in order, and by how many bits each is shifted."""
    action_move: tuple[Slot, int]

    def run(self, carry: NDArray[np.int32], observation: NDArray[np.int32]) -> tuple[Any, Any]:
        """One step for rows of carries and observations."""
        source, rows = self.source, len(observation)
        tape = np.zeros((rows, source.tape), np.int64)

        def read(arg: Slot | Whole) -> Any:
            return tape[:, arg.offset : arg.offset + arg.size] if isinstance(arg, Slot) else arg

        read(source.carry_in)[:] = carry
        read(source.observation_in)[:] = saturated(observation)
        for step in self.steps:
            read(step.out)[:] = evaluate(step, [read(arg) for arg in step.args])
        moved = [saturated(shifted(read(slot), bits)) for slot, bits in self.carry_moves]
        action = saturated(shifted(read(self.action_move[0]), self.action_move[1]))
        carried = np.concatenate([np.zeros((rows, 0), np.int64), *moved], axis=1)
        return carried.astype(np.int32), action.astype(np.int32)


def evaluate(step: Step, args: Sequence[Any]) -> Whole:
    """Carry out one operation."""
    x, point = args[0], step.point
    if step.kind == "linear":
        return _linear(step, args)
    if step.kind == "copy":
        return saturated(shifted(x, step.points[0] - point))
    if step.kind == "mul":
        return saturated(shifted(x * args[1], sum(step.points) - point))
    if step.kind in ("add", "sub"):
        fine = max(step.points)
        a, b = (arg * (1 << (fine - own)) for arg, own in zip(args, step.points, strict=True))
        return saturated(shifted(a + b if step.kind == "add" else a - b, fine - point))
    if step.kind == "silu":
        return saturated(shifted(x * sigmoid(x, step.points[0]), step.points[0] + SIGMOID_POINT - point))
    if step.kind == "sigmoid":
        return saturated(shifted(sigmoid(x, step.points[0]), SIGMOID_POINT - point))
    return saturated(shifted(2 * sigmoid(2 * x, step.points[0]) - (1 << SIGMOID_POINT), SIGMOID_POINT - point))


def _linear(step: Step, args: Sequence[Any]) -> Whole:
    assert step.rows is not None
    x, rows = saturated(shifted(args[0], INPUT_SHIFT), INPUT_LIMIT), step.rows
    total = rows.bias + x @ rows.weight.T
    y = shifted(total * rows.factor, rows.shift)
    return saturated(y if len(args) == 1 else y + shifted(args[1], step.points[1] - step.point))


class IntegerPolicy:
    """A student that computes in whole numbers; a policy like any other, with a carry of int32."""

    def __init__(self, name: str, program: IntegerProgram) -> None:
        self.name, self.program = name, program

    def initial(self, n: int) -> NDArray[np.int32]:
        """Fresh carries for `n` episodes."""
        return np.zeros((n, self.program.source.carry), np.int32)

    def step(self, carry: NDArray[np.int32], observation: Array) -> tuple[NDArray[np.int32], Array]:
        """(n, C) carries and (n, 19) float observations to carries and (n, 2) float actions."""
        carry, action = self.program.run(carry, quantised(observation))
        return carry, (action * np.float32(2.0**-ACTION_POINT)).astype(np.float32)


def quantised(observation: Array) -> NDArray[np.int32]:
    """Observations in units of 2**-22, clipped, halves away from zero; computed in float32, as the exported C does."""
    x = np.clip(np.nan_to_num(np.asarray(observation, np.float32)), np.float32(-1), np.float32(1))
    x = x * np.float32(1 << OBSERVATION_POINT)
    return np.trunc(x + np.copysign(np.float32(0.5), x)).astype(np.int32)
