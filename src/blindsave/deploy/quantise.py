"""Make a student's whole numbers: binary points from recorded episodes, weights rounded so that results stay."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindsave.deploy.integers import (
    ACTION_POINT,
    INPUT_SHIFT,
    OBSERVATION_POINT,
    VALUE_BITS,
    IntegerPolicy,
    IntegerProgram,
    Integers,
    Step,
    Whole,
    saturated,
)
from blindsave.deploy.rounding import FINE, PLAIN, whole_rows
from blindsave.errors import BadInput
from blindsave.policies import program as programs
from blindsave.policies.arithmetic import Array
from blindsave.policies.native import ProgramPolicy
from blindsave.policies.program import Const, Op, Program, Slot

HEADROOM = 1.25
"""How much larger than anything recorded a value may become before it saturates."""
SPREAD = 2
"""Inputs of one linear map may differ by so many bits in their units; more would take bits from weights."""
FEW_WEIGHTS = 4096
"""Policies with fewer look for the scale of every row of eight bits: each weight decides more, and errors of a few
do not cancel. Larger ones lose nothing by the plain scale, and keep the bits that were published."""
BOUNDED = ("tanh", "sigmoid")
SUPPORTED = ("copy", "linear", "silu", "tanh", "sigmoid", "add", "sub", "mul")


@dataclass(frozen=True, eq=False)
class Recording:
    """What a program's values were like in recorded closed loops."""

    largest: list[float]
    """The largest size of every operation's result."""
    carried: Array
    """And of every carried value."""
    moments: dict[int, NDArray[np.float64]]
    """Per linear operation: mean products of its inputs, with a one as the last input."""


def observe(program: Program, observations: Sequence[Array]) -> Recording:
    """Run the program over recorded episodes in float and write down what is needed of its values."""
    largest, carried = [0.0] * len(program.ops), np.zeros(program.carry, np.float32)
    moments: dict[int, Any] = {i: 0.0 for i, op in enumerate(program.ops) if op.kind == "linear"}
    order, count = sorted(observations, key=len, reverse=True), sum(map(len, observations))
    carry = np.zeros((len(order), program.carry), np.float32)
    for t in range(len(order[0])):
        running = [episode[t] for episode in order if len(episode) > t]
        tape = np.zeros((len(running), program.tape), np.float32)

        def read(arg: Slot | Const, tape: Array = tape) -> Any:
            return program.constants[arg.number] if isinstance(arg, Const) else tape[:, arg.offset :][:, : arg.size]

        read(program.carry_in)[:] = carry[: len(running)]
        read(program.observation_in)[:] = running
        for i, op in enumerate(program.ops):
            if i in moments:
                x = np.concatenate([read(op.args[0]), np.ones((len(running), 1))], axis=1, dtype=np.float64)
                moments[i] = moments[i] + x.T @ x / count
            out = read(op.out)
            out[:] = programs.apply(op.kind, [read(arg) for arg in op.args], op.number)
            largest[i] = max(largest[i], float(np.abs(out).max()))
        carry = np.array(np.broadcast_to(read(program.carry_out), (len(running), program.carry)))
        carried = np.maximum(carried, np.abs(carry).max(axis=0, initial=0.0))
    return Recording(largest, carried, moments)


def weight_count(program: Program) -> int:
    """How many weights the linear maps of a program have, biases not counted."""
    return sum(program.weight(op).size for op in program.ops if op.kind == "linear")


def point_for(size: float) -> int:
    """The binary point at which a value of this size, with headroom, still fits."""
    return VALUE_BITS - int(np.ceil(np.log2(max(size * HEADROOM, 2.0**-8))))


def integer_policy(policy: ProgramPolicy, integers: Integers, observations: Sequence[Array]) -> IntegerPolicy:
    """Turn a student into whole numbers; `observations` are recorded episodes, each (steps, 19)."""
    program = getattr(policy, "program", None)
    if not isinstance(program, Program):
        raise BadInput(f"{policy.name} is not a program, so it has no form in whole numbers")
    if not observations or not sum(map(len, observations)):
        raise BadInput("binary points are found from recorded episodes, and there are none")
    return IntegerPolicy(f"{policy.name}_{integers}", _Builder(program, integers, policy.name, observations).build())


class _Builder:
    """Gives every place of the tape its binary point and every operation its whole numbers."""

    def __init__(self, program: Program, integers: Integers, name: str, observations: Sequence[Array]) -> None:
        self.program, self.name = program, name
        self.integers: Integers = integers
        self.scales = FINE if integers == "int8" and weight_count(program) < FEW_WEIGHTS else PLAIN
        self.recording = observe(program, observations)
        self.point = np.zeros(program.tape, np.int64)
        self._set(program.observation_in, OBSERVATION_POINT)
        self.carry_point = self._carry_points(self.recording.carried)
        self.point[: program.carry] = self.carry_point

    def build(self) -> IntegerProgram:
        program = self.program
        if isinstance(program.carry_out, Const) or isinstance(program.action_out, Const):
            raise BadInput(f"{self.name} gives a constant, so it has no form in whole numbers")
        steps = [step for i in range(len(program.ops)) for step in self._steps(i)]
        moves = [
            (Slot(program.carry_out.offset + start, stop - start), int(has - wanted))
            for start, stop, (has, wanted) in self._runs(program.carry_out, self.carry_point)
        ]
        ((_, _, (has, _)),) = self._runs(program.action_out)
        return IntegerProgram(
            program, self.integers, tuple(steps), tuple(moves), (program.action_out, int(has) - ACTION_POINT)
        )

    def _carry_points(self, carried: Array) -> Whole:
        """One binary point for each stretch of the carry that one operation writes."""
        out, points = self.program.carry_out, np.zeros(self.program.carry, np.int64)
        if isinstance(out, Slot):
            for op in self.program.ops:
                start, stop = max(op.out.offset, out.offset), min(op.out.offset + op.out.size, out.offset + out.size)
                if start < stop:
                    part = slice(start - out.offset, stop - out.offset)
                    points[part] = point_for(float(carried[part].max()))
        return points

    def _set(self, slot: Slot, point: int) -> None:
        self.point[slot.offset : slot.offset + slot.size] = point

    def _runs(self, slot: Slot, wanted: Whole | None = None) -> list[tuple[int, int, tuple[Any, Any]]]:
        """Stretches of a slot of one binary point (and one wanted point)."""
        own = self.point[slot.offset : slot.offset + slot.size]
        pairs = list(zip(own.tolist(), (own if wanted is None else wanted).tolist(), strict=True))
        cuts = [0, *(i for i in range(1, len(pairs)) if pairs[i] != pairs[i - 1]), len(pairs)]
        return [(a, b, pairs[a]) for a, b in pairwise(cuts) if a < b]

    def _uniform(self, arg: Slot | Const) -> tuple[Slot | Whole, int]:
        if isinstance(arg, Const):
            values = self.program.constants[arg.number]
            point = VALUE_BITS - max(0, int(np.floor(np.log2(max(float(np.abs(values).max()), 2.0**-8)))) + 1)
            return saturated(np.floor(values.astype(np.float64) * 2.0**point + 0.5).astype(np.int64)), point
        runs = self._runs(arg)
        if len(runs) != 1:
            raise BadInput(f"{self.name} mixes values of different sizes in one operation: no whole-number form")
        return arg, int(runs[0][2][0])

    def _steps(self, index: int) -> list[Step]:
        op = self.program.ops[index]
        if op.kind not in SUPPORTED:
            raise BadInput(f"{self.name} uses `{op.kind}`, which has no form in whole numbers")
        if op.kind == "copy" and isinstance(op.args[0], Slot):
            steps = list(self._copies(op.out, op.args[0], self._finest(index)))
        else:
            point = VALUE_BITS if op.kind in BOUNDED else point_for(self.recording.largest[index])
            steps = [self._linear(index, point) if op.kind == "linear" else self._elementwise(op, point)]
        for step in steps:
            self._set(step.out, step.point)
        return steps

    def _copies(self, out: Slot, source: Slot, finest: int) -> Iterator[Step]:
        """A copy keeps the binary points of what it copies, unless a linear map wants coarser ones."""
        for start, stop, (point, _) in self._runs(source):
            to, part = Slot(out.offset + start, stop - start), Slot(source.offset + start, stop - start)
            yield Step("copy", to, (part,), (point,), min(point, finest))

    def _finest(self, index: int) -> int:
        """The finest binary point of this copy, if it joins inputs of a linear map with those of other copies."""
        ops = self.program.ops
        reader = next((i for i in range(index, len(ops)) if ops[i].kind == "linear" and _joins(ops[index], ops[i])), 0)
        points = [VALUE_BITS]
        for i in range(reader):
            if ops[i].kind == "copy" and _joins(ops[i], ops[reader]):
                place = ops[i].out if i < index else ops[i].args[0]
                points += self.point[place.offset : sum(place)].tolist() if isinstance(place, Slot) else []
        return min(points) + SPREAD

    def _elementwise(self, op: Op, point: int) -> Step:
        args, points = zip(*map(self._uniform, op.args), strict=True)
        return Step(op.kind, op.out, args, points, point)

    def _linear(self, index: int, point: int) -> Step:
        op = self.program.ops[index]
        x, _, start = op.args
        weights = self.program.weight(op)
        if len(weights) != 1 or not isinstance(x, Slot):
            raise BadInput(f"{self.name} has a linear map in blocks, which has no form in whole numbers")
        # What one unit of each input is worth: weights are scaled by it, so inputs of different sizes can be mixed.
        unit = 2.0 ** (INPUT_SHIFT - self.point[x.offset : x.offset + x.size])
        constant = self.program.constants[start.number] if isinstance(start, Const) else np.zeros(op.out.size)
        bias = np.broadcast_to(constant, (op.out.size,))[:, None]
        given = np.concatenate([weights[0] * unit, bias], axis=1, dtype=np.float64)
        units = np.append(unit, 1.0)
        moments = self.recording.moments[index] / np.outer(units, units)
        rows = whole_rows(given, moments, point, self.integers, self.scales)
        if isinstance(start, Const):
            return Step("linear", op.out, (x,), (0,), point, rows)
        return Step("linear", op.out, (x, self._uniform(start)[0]), (0, self._uniform(start)[1]), point, rows)


def _joins(copy: Op, reader: Op) -> bool:
    """Whether an operation writes some of the inputs of a linear map."""
    inputs = reader.args[0]
    return isinstance(inputs, Slot) and inputs.offset <= copy.out.offset and sum(copy.out) <= sum(inputs)
