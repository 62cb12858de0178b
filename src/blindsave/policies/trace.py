"""Record what a step function does by running it once on symbols.

The function is written against a namespace of operations (`ops.linear`, `ops.tanh`, ...) and plain `+ - * /` and
slices of the last axis. Given a `Tracer` and `Symbol`s it records what it does; whatever involves no symbol is computed
on the spot in canonical arithmetic. `trace` turns a recording into a `Program`, with parameters as constants; the
trainer in C reads one with parameters as symbols, so that gradients reach them (`learning/distil/graph.py`).
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from blindsave.errors import BadInput
from blindsave.policies import program as programs
from blindsave.policies.arithmetic import Array
from blindsave.policies.program import Const, Op, Program, Slot, round_up


class UnknownOperation(BadInput):
    """A step does something that cannot be recorded, or that the reader of its recording does not know."""


@dataclass(frozen=True, eq=False)
class Node:
    """Some floats and where they come from; everything is written once."""

    kind: str
    """`input`, `parameter`, `constant`, `concat`, or the operation of a `Program`."""
    shape: tuple[int, ...]
    args: tuple["Symbol", ...] = ()
    number: float = 0.0
    value: Array | None = None
    """What a constant holds."""
    learned: bool = False
    """Does a constant come from parameters, or is it a written number?"""

    @property
    def size(self) -> int:
        """How many floats."""
        return math.prod(self.shape)

    def writes(self) -> Iterator[tuple[str, int, int, tuple["Symbol", ...]]]:
        """(operation, offset, size, arguments) of everything that fills the node: of a concatenation many copies."""
        if self.kind != "concat":
            yield self.kind, 0, self.size, self.args
            return
        offset = 0
        for part in self.args:
            yield "copy", offset, part.size, (part,)
            offset += part.size


Operator = Callable[["Symbol", Any], "Symbol"]


def _operator(kind: str) -> tuple[Operator, Operator]:
    """A binary operator with the symbol on its left, and on its right."""
    return lambda x, other: x.tracer.emit(kind, x, other), lambda x, other: x.tracer.emit(kind, other, x)


@dataclass(frozen=True, eq=False)
class Symbol:
    """A vector (or a whole parameter) whose content is not known yet: `size` floats of a node from `offset` on."""

    tracer: "Tracer"
    node: Node
    offset: int
    size: int

    __array_ufunc__ = None  # makes NumPy hand `array + symbol` to __radd__

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of a parameter, or of one row."""
        return self.node.shape if self.size == self.node.size else (self.size,)

    def __getitem__(self, key: Any) -> "Symbol":
        part = key[-1] if isinstance(key, tuple) else key
        if not isinstance(part, slice) or (isinstance(key, tuple) and key != (Ellipsis, part)) or len(self.shape) > 1:
            raise UnknownOperation("only x[..., a:b] of vectors can be traced")
        start, stop, stride = part.indices(self.size)
        if stride != 1:
            raise UnknownOperation("only slices of stride one can be traced")
        return Symbol(self.tracer, self.node, self.offset + start, max(0, stop - start))

    __add__, __radd__ = _operator("add")
    __sub__, __rsub__ = _operator("sub")
    __mul__, __rmul__ = _operator("mul")
    __truediv__, __rtruediv__ = _operator("div")

    def __neg__(self) -> "Symbol":
        return self.tracer.emit("mul", self, -1.0)


class Tracer:
    """The namespace of operations that records them."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        """Operations in the order in which they were asked for."""
        self.constants: dict[tuple, Node] = {}
        """In the order of their first use; equal ones are kept once."""

    def given(self, kind: str, *shape: int) -> Symbol:
        """An `input` (a vector, different in every row) or a `parameter` (of any shape, the same for all)."""
        return self._whole(Node(kind, shape))

    def _whole(self, node: Node) -> Symbol:
        return Symbol(self, node, 0, node.size)

    def _constant(self, array: Any, learned: bool) -> Symbol:
        array = np.ascontiguousarray(array, dtype=np.float32)
        key = (array.shape, array.tobytes(), learned)
        node = Node("constant", array.shape, value=array, learned=learned)
        return self._whole(self.constants.setdefault(key, node))

    def operand(self, arg: Any, size: int) -> Symbol:
        """An elementwise operand: a symbol of this size, a vector of known parameters or a plain number."""
        if isinstance(arg, Symbol):
            if arg.shape != (size,):
                raise UnknownOperation(f"cannot combine vectors of {arg.size} and {size} floats")
            return arg
        array = np.asarray(arg, np.float32)
        if array.ndim > 1 or (array.ndim == 1 and array.shape[0] not in (1, size)):
            raise UnknownOperation(f"cannot combine a parameter of shape {array.shape} with a vector of {size} floats")
        return self._constant(np.broadcast_to(array, (size,)), learned=array.ndim == 1)

    def emit(self, kind: str, *args: Any, number: float = 0.0) -> Any:
        """Record an elementwise operation, or compute it now if no symbol is involved."""
        sizes = [arg.size for arg in args if isinstance(arg, Symbol)]
        if not sizes:
            return programs.apply(kind, [np.asarray(arg, np.float32) for arg in args], number)
        return self._record(kind, sizes[0], *(self.operand(arg, sizes[0]) for arg in args), number=number)

    def _record(self, kind: str, size: int, *args: Symbol, number: float = 0.0) -> Symbol:
        self.nodes.append(Node(kind, (size,), args, number))
        return self._whole(self.nodes[-1])

    def linear(self, x: Any, weight: Any, start: Any = None) -> Any:
        """Affine map, start + W x; see `arithmetic.linear`."""
        if not any(isinstance(arg, Symbol) for arg in (x, weight, start)):
            return programs.apply("linear", [x, weight, start])
        blocks, out, inner = weight.shape if len(weight.shape) == 3 else (1, *weight.shape)
        begin = self.operand(0.0 if start is None else start, blocks * out)
        x = self.operand(x, blocks * inner)
        if inner == 0 or out == 0:
            return start if isinstance(start, Symbol) else self._record("copy", blocks * out, begin)
        weight = weight if isinstance(weight, Symbol) else self._constant(weight, learned=True)
        return self._record("linear", blocks * out, x, weight, begin)

    def concat(self, *parts: Any) -> Any:
        """Join vectors."""
        if not any(isinstance(part, Symbol) for part in parts):
            return np.concatenate([np.asarray(part, np.float32) for part in parts])
        parts = tuple(part for part in parts if part.shape[-1])
        if len(parts) == 1 and isinstance(parts[0], Symbol):
            return parts[0]
        operands = [self.operand(part, part.shape[-1]) for part in parts]
        return self._record("concat", sum(part.size for part in operands), *operands)

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
    inputs = tracer.given("input", carry), tracer.given("input", observation)
    results = step(tracer, *inputs)
    carry_out, action_out = (tracer.operand(r, r.shape[-1]) for r in results)
    if carry_out.size != carry:
        raise BadInput(f"a step must return a carry of {carry} floats, not {carry_out.size}")
    places, tape = _place(tracer.nodes, [x.node for x in inputs], {carry_out.node, action_out.node})
    numbers = {node: number for number, node in enumerate(tracer.constants.values())}

    def slot(arg: Symbol) -> Slot | Const:
        return Const(numbers[arg.node]) if arg.node in numbers else Slot(places[arg.node] + arg.offset, arg.size)

    ops = tuple(
        Op(kind, Slot(places[node] + offset, size), tuple(map(slot, args)), node.number)
        for node in tracer.nodes
        for kind, offset, size, args in node.writes()
    )
    constants = [(np.asarray(node.value), node.learned) for node in tracer.constants.values()]
    return Program(
        carry, observation, action_out.size, tape, ops, tuple(value for value, _ in constants),
        tuple(learned for _, learned in constants), slot(carry_out), slot(action_out),
    )  # fmt: skip


def _place(nodes: list[Node], inputs: list[Node], results: set[Node]) -> tuple[dict[Node, int], int]:
    """Give every node a place on the tape, the inputs first; a node's place is free again after its last use."""
    last_use = dict.fromkeys(results, len(nodes))
    for index, node in reversed(list(enumerate(nodes))):
        for used in (node, *(arg.node for arg in node.args)):
            last_use.setdefault(used, index)
    places, end = {}, 0
    for node in inputs:
        places[node], end = end, end + round_up(node.size)
    taken: list[tuple[int, int, int]] = []  # (start, stop, last use)
    used = end
    for index, node in enumerate(nodes):
        taken = sorted(t for t in taken if t[2] >= index)
        start, size = end, round_up(node.size)
        for begin, stop, _ in taken:
            if start + size <= begin:
                break
            start = max(start, stop)
        places[node] = start
        taken.append((start, start + size, last_use[node]))
        used = max(used, start + size)
    return places, used
