"""Turn a step function into a `Program` by running it once on symbols.

The function is written against a namespace of operations (`ops.linear`, `ops.tanh`, ...) and plain `+ - * /` and
slices of the last axis. Given a `Tracer` and symbolic `Value`s it records what it does; whatever involves parameters
alone is computed on the spot in canonical arithmetic and becomes a constant.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from blindsave.errors import BadInput
from blindsave.policies import program as programs
from blindsave.policies.arithmetic import Array
from blindsave.policies.program import Const, Op, Program, Slot, round_up
from blindsave.policies.symbolic import Symbolic


@dataclass(frozen=True, eq=False)
class Value(Symbolic):
    """A vector whose content is not known yet: `size` floats from `offset` on of the tracer's buffer `buffer`."""

    tracer: "Tracer"
    buffer: int
    offset: int
    size: int

    def __getitem__(self, key: Any) -> "Value":
        part = key[-1] if isinstance(key, tuple) else key
        if not isinstance(part, slice) or (isinstance(key, tuple) and key != (Ellipsis, part)):
            raise BadInput("only x[..., a:b] can be traced")
        start, stop, stride = part.indices(self.size)
        if stride != 1:
            raise BadInput("only slices of stride one can be traced")
        return Value(self.tracer, self.buffer, self.offset + start, max(0, stop - start))

    @property
    def shape(self) -> tuple[int]:
        """The shape of one row."""
        return (self.size,)


class Tracer:
    """The namespace of operations that records them."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.ops: list[tuple[str, Value, tuple[Value | Const, ...], float]] = []
        self.constants: list[Array] = []
        self.learned: list[bool] = []
        self._known: dict[tuple, int] = {}

    def buffer(self, size: int) -> Value:
        """A new vector of `size` floats."""
        self.sizes.append(size)
        return Value(self, len(self.sizes) - 1, 0, size)

    def constant(self, array: Any, learned: bool) -> Const:
        """The number of a constant; equal ones are kept once."""
        array = np.ascontiguousarray(array, dtype=np.float32)
        key = (array.shape, array.tobytes(), learned)
        if key not in self._known:
            self._known[key] = len(self.constants)
            self.constants.append(array)
            self.learned.append(learned)
        return Const(self._known[key])

    def operand(self, arg: Any, size: int) -> Value | Const:
        """An elementwise operand: a value of this size, a vector of parameters or a plain number."""
        if isinstance(arg, Value):
            if arg.size != size:
                raise BadInput(f"cannot combine vectors of {arg.size} and {size} floats")
            return arg
        array = np.asarray(arg, np.float32)
        if array.ndim > 1 or (array.ndim == 1 and array.shape[0] not in (1, size)):
            raise BadInput(f"cannot combine a parameter of shape {array.shape} with a vector of {size} floats")
        return self.constant(np.broadcast_to(array, (size,)), learned=array.ndim == 1)

    def emit(self, kind: str, *args: Any, number: float = 0.0) -> Any:
        """Record an elementwise operation, or compute it now if no symbol is involved."""
        sizes = [arg.size for arg in args if isinstance(arg, Value)]
        if not sizes:
            return programs.apply(kind, [np.asarray(arg, np.float32) for arg in args], number)
        return self._record(kind, sizes[0], tuple(self.operand(arg, sizes[0]) for arg in args), number)

    def _record(self, kind: str, size: int, args: tuple[Value | Const, ...], number: float = 0.0) -> Value:
        out = self.buffer(size)
        self.ops.append((kind, out, args, number))
        return out

    def linear(self, x: Any, weight: Any, start: Any = None) -> Any:
        """Start + W x; see `arithmetic.linear`."""
        if not isinstance(x, Value) and not isinstance(start, Value):
            return programs.apply("linear", [x, weight, start])
        weight = np.asarray(weight, np.float32)
        blocks, out, inner = weight.shape if weight.ndim == 3 else (1, *weight.shape)
        begin = self.operand(0.0 if start is None else start, blocks * out)
        x = self.operand(x, blocks * inner)
        if inner == 0 or out == 0:
            return start if isinstance(start, Value) else self._record("copy", blocks * out, (begin,))
        return self._record("linear", blocks * out, (x, self.constant(weight, learned=True), begin))

    def concat(self, *parts: Any) -> Any:
        """Join vectors."""
        if not any(isinstance(part, Value) for part in parts):
            return np.concatenate([np.asarray(part, np.float32) for part in parts])
        parts = tuple(part for part in parts if part.shape[-1])
        if len(parts) == 1 and isinstance(parts[0], Value):
            return parts[0]
        out = self.buffer(sum(part.shape[-1] for part in parts))
        offset = 0
        for part in parts:
            size = part.shape[-1]
            self.ops.append(("copy", out[..., offset : offset + size], (self.operand(part, size),), 0.0))
            offset += size
        return out

    def rmsnorm(self, x: Any, scale: Any, eps: float) -> Any:
        """RMS normalisation; see `arithmetic.rmsnorm`."""
        return self.emit("rmsnorm", x, scale, number=eps)

    def onehot(self, x: Any, classes: int) -> Any:
        """One-hot of the largest of every `classes` neighbours; see `arithmetic.onehot`."""
        return self.emit("onehot", x, number=float(classes))

    def __getattr__(self, kind: str) -> Callable[..., Any]:
        if kind not in (*programs.UNARY, *programs.BINARY):
            raise AttributeError(kind)
        return lambda *args: self.emit(kind, *args)


Step = Callable[[Any, Any, Any], tuple[Any, Any]]
"""step(ops, carry, observation) -> (carry, action)."""


def trace(step: Step, *, carry: int, observation: int) -> Program:
    """Record one call of `step` as a program."""
    tracer = Tracer()
    carry_in, observation_in = tracer.buffer(carry), tracer.buffer(observation)
    results = step(tracer, carry_in, observation_in)
    carry_out, action_out = (tracer.operand(r, r.shape[-1]) for r in results)
    if results[0].shape[-1] != carry:
        raise BadInput(f"a step must return a carry of {carry} floats, not {results[0].shape[-1]}")
    places, tape = _place(tracer, {carry_out, action_out})

    def slot(arg: Value | Const) -> Slot | Const:
        return arg if isinstance(arg, Const) else Slot(places[arg.buffer] + arg.offset, arg.size)

    ops = tuple(
        Op(kind, Slot(places[out.buffer] + out.offset, out.size), tuple(map(slot, args)), number)
        for kind, out, args, number in tracer.ops
    )
    return Program(
        carry, observation, results[1].shape[-1], tape, ops, tuple(tracer.constants), tuple(tracer.learned),
        slot(carry_out), slot(action_out),
    )  # fmt: skip


def _place(tracer: Tracer, results: set[Value | Const]) -> tuple[dict[int, int], int]:
    """Give every buffer a place on the tape; a buffer's place is free again after its last use."""
    last_use = {result.buffer: len(tracer.ops) for result in results if isinstance(result, Value)}
    for index, (_, out, args, _) in reversed(list(enumerate(tracer.ops))):
        for value in (out, *args):
            if isinstance(value, Value):
                last_use.setdefault(value.buffer, index)
    places = {0: 0, 1: round_up(tracer.sizes[0])}
    end = places[1] + round_up(tracer.sizes[1])
    taken: list[tuple[int, int, int]] = []  # (start, stop, last use)
    for index, (_, out, _, _) in enumerate(tracer.ops):
        if out.buffer in places:
            continue
        taken = sorted(t for t in taken if t[2] >= index)
        start, size = end, round_up(tracer.sizes[out.buffer])
        for begin, stop, _ in taken:
            if start + size <= begin:
                break
            start = max(start, stop)
        places[out.buffer] = start
        taken.append((start, start + size, last_use[out.buffer]))
    used = max([end, *(places[b] + round_up(tracer.sizes[b]) for b in places)])
    return places, used
