"""A student's step as a graph the native trainer can run forwards and backwards.

The family's own step is run once on symbols, as for a `Program`, but parameters stay symbols too, so that gradients
reach them. What the trainer does not know (`UnknownOperation`) is trained with JAX instead.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindsave.errors import BadInput
from blindsave.policies.base import ACTION_FLOATS
from blindsave.policies.students.family import Family
from blindsave.policies.symbolic import Symbolic

PAD = 16
ROW, CARRY, VECTOR, PARAMETER, CONSTANT = 1, 2, 3, 4, 5
"""Where floats lie; in the description constants are the first vectors."""
SHARED = (VECTOR, PARAMETER, CONSTANT)
"""The same for all rows."""
UNARY = ("copy", "silu", "tanh", "sigmoid", "exp", "log", "sqrt")
BINARY = ("add", "sub", "mul", "div")
NUMBER = {kind: number for number, kind in enumerate((*UNARY, *BINARY, "linear"))}
ABSENT = (0, 0, 0, 0, 0, 0)


class UnknownOperation(BadInput):
    """The native trainer cannot run this core."""


@dataclass(eq=False)
class Buffer:
    """Some floats: one row of a block, of the carried memory, a vector or a parameter."""

    space: int
    size: int
    place: int
    differentiable: bool
    shape: tuple[int, ...] = ()
    uses: int = 0


@dataclass(frozen=True, eq=False)
class Symbol(Symbolic):
    """`size` floats of a buffer from `column` on."""

    tracer: "GraphTracer"
    buffer: Buffer
    column: int
    size: int

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of a parameter, or of one row."""
        return self.buffer.shape if self.buffer.shape and self.size == self.buffer.size else (self.size,)

    @property
    def ndim(self) -> int:
        """As of an array."""
        return len(self.shape)

    def __getitem__(self, key: Any) -> "Symbol":
        part = key[-1] if isinstance(key, tuple) else key
        if not isinstance(part, slice) or self.ndim > 1:
            raise UnknownOperation("only x[..., a:b] of vectors can be trained natively")
        start, stop, stride = part.indices(self.size)
        if stride != 1:
            raise UnknownOperation("only slices of stride one can be trained natively")
        return Symbol(self.tracer, self.buffer, self.column + start, max(0, stop - start))


@dataclass(frozen=True, eq=False)
class Node:
    """One recorded operation."""

    kind: str
    out: Symbol
    a: Symbol
    b: Symbol | None = None
    weight: int = 0

    @property
    def of_parameters(self) -> bool:
        """Is it the same for all rows?"""
        return self.out.buffer.space == VECTOR


class GraphTracer:
    """The namespace of operations (`ops`) that records them."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.weights: list[Buffer] = []
        self.constants: list[NDArray[np.float32]] = []
        self.floats: dict[int, int] = dict.fromkeys((ROW, CARRY, *SHARED), 0)

    def buffer(self, space: int, size: int, differentiable: bool, shape: tuple[int, ...] = ()) -> Symbol:
        """New floats; parameters lie densely, everything else on padded places."""
        place = self.floats[space]
        self.floats[space] += size if space == PARAMETER else padded(size)
        return Symbol(self, Buffer(space, size, place, differentiable, shape), 0, size)

    def number(self, value: Any, size: int) -> Symbol:
        """A written number as a vector."""
        self.constants.append(np.broadcast_to(np.asarray(value, np.float32), (size,)))
        return self.buffer(CONSTANT, size, False)

    def operand(self, value: Any, size: int) -> Symbol:
        """A symbol of this size, or a number spread over it."""
        if isinstance(value, Symbol):
            if value.size != size or value.ndim > 1:
                raise UnknownOperation(f"cannot combine shapes {value.shape} and ({size},)")
            return value
        if np.ndim(value) > 1:
            raise UnknownOperation("arrays that are no parameters cannot be trained natively")
        return self.number(value, size)

    def emit(self, kind: str, *args: Any) -> Symbol:
        """Record an elementwise operation."""
        size = next(arg.size for arg in args if isinstance(arg, Symbol))
        operands = [self.operand(arg, size) for arg in args]
        return self.record(kind, size, operands[0], operands[1] if len(operands) > 1 else None)

    def record(self, kind: str, size: int, a: Symbol, b: Symbol | None = None, weight: int | None = None) -> Symbol:
        """Record an operation with a new output."""
        args = [arg for arg in (a, b) if arg is not None]
        of_parameters = weight is None and all(arg.buffer.space in SHARED for arg in args)
        learned = weight is not None or any(arg.buffer.differentiable for arg in args)
        out = self.buffer(VECTOR if of_parameters else ROW, size, learned)
        self.append(Node(kind, out, a, b, weight or 0))
        return out

    def append(self, node: Node) -> None:
        """Keep a node and count what it reads."""
        for value in (node.a, node.b):
            if value is not None:
                value.buffer.uses += 1
        self.nodes.append(node)

    def linear(self, x: Any, weight: Any, start: Any = None) -> Symbol:
        """Start + W x for one matrix of parameters."""
        if not isinstance(weight, Symbol) or weight.ndim != 2 or not isinstance(x, Symbol):
            raise UnknownOperation("only x times one matrix of parameters can be trained natively")
        out, inner = weight.shape
        if x.size != inner or x.buffer.space not in (ROW, CARRY) or inner == 0:
            raise UnknownOperation(f"cannot multiply {x.size} floats with a matrix for {inner}")
        if weight.buffer not in self.weights:
            self.weights.append(weight.buffer)
        begin = None if start is None else self.operand(start, out)
        return self.record("linear", out, x, begin, self.weights.index(weight.buffer))

    def concat(self, *parts: Any) -> Symbol:
        """Join vectors."""
        present = [part for part in parts if part.shape[-1]]
        if not all(isinstance(part, Symbol) for part in present):
            raise UnknownOperation("arrays that are no parameters cannot be trained natively")
        space = VECTOR if all(part.buffer.space in SHARED for part in present) else ROW
        differentiable = any(part.buffer.differentiable for part in present)
        out = self.buffer(space, sum(part.size for part in present), differentiable)
        column = 0
        for part in present:
            self.append(Node("copy", Symbol(self, out.buffer, column, part.size), part))
            column += part.size
        return out

    def __getattr__(self, kind: str) -> Callable[..., Symbol]:
        if kind not in (*UNARY, *BINARY):
            raise UnknownOperation(f"the native trainer does not know `{kind}`")
        return lambda *args: self.emit(kind, *args)


def padded(size: int) -> int:
    """The next multiple of the trainer's padding."""
    return -(-size // PAD) * PAD


@dataclass(frozen=True, eq=False)
class Graph:
    """A family's step, ready for the native trainer."""

    description: NDArray[np.int32]
    shapes: dict[str, tuple[int, ...]]
    """Parameters in the order in which they lie in one flat vector."""

    @property
    def parameters(self) -> int:
        """Floats of all parameters."""
        return sum(int(np.prod(shape)) for shape in self.shapes.values())

    def flat(self, params: Mapping[str, Any]) -> NDArray[np.float32]:
        """Parameters as one vector."""
        return np.concatenate([np.asarray(params[name], np.float32).reshape(-1) for name in self.shapes])

    def named(self, flat: NDArray[np.float32]) -> dict[str, NDArray[np.float32]]:
        """One vector (or one per seed, on leading axes) as named parameters."""
        found, begin = {}, 0
        for name, shape in self.shapes.items():
            size = int(np.prod(shape))
            part = flat[..., begin : begin + size].reshape(*flat.shape[:-1], *shape)
            found[name] = np.ascontiguousarray(part)  # files of tensors must not be given views
            begin += size
        return found


@lru_cache(maxsize=64)
def training_graph(family: Family) -> Graph:
    """Trace a family; raises `UnknownOperation` where the native trainer cannot follow."""
    core, tracer = family.core, GraphTracer()
    params = {name: tracer.buffer(PARAMETER, int(np.prod(shape)), True, shape) for name, shape in family.shapes.items()}
    x = tracer.buffer(ROW, core.observed, False)
    previous = tracer.buffer(ROW, ACTION_FLOATS, False)
    code = family.encode(tracer, params, x)
    memory = None
    if core.recurrent:
        p, carry = family.core_parameters(params), tracer.buffer(CARRY, core.memory, True)
        memory = core.advance(tracer, p, carry, core.drive(tracer, p, code, previous))
        if memory.buffer.space != ROW or memory.size != memory.buffer.size:
            memory = tracer.record("copy", memory.size, memory)
    action = family.act(tracer, params, memory, code)
    return Graph(_describe(tracer, core, x, previous, memory, action), dict(family.shapes))


def _describe(
    tracer: GraphTracer, core: Any, x: Symbol, previous: Symbol, memory: Symbol | None, action: Symbol
) -> NDArray[np.int32]:
    """The integers of trainer_core/graph.h."""
    constants = np.concatenate([np.zeros(0, np.float32), *map(_fill, tracer.constants)])

    def value(symbol: Symbol | None) -> tuple[int, ...]:
        if symbol is None:
            return ABSENT
        buffer = symbol.buffer
        place = buffer.place + (len(constants) if buffer.space == VECTOR else 0)
        space = VECTOR if buffer.space == CONSTANT else buffer.space
        stride = 0 if buffer.space in SHARED else padded(buffer.size)
        return (space, place, symbol.column, stride, symbol.size, int(buffer.differentiable))

    nodes = [n for n in tracer.nodes if n.of_parameters] + [n for n in tracer.nodes if not n.of_parameters]
    weights, place = [], 0
    for buffer in tracer.weights:
        out, inner = buffer.shape
        weights.append((buffer.place, out, inner, padded(out), padded(inner), place))
        place += padded(out) * padded(inner)
    floats, fed_back = tracer.floats, previous.size if core.recurrent else 0
    head = (
        len(nodes), sum(n.of_parameters for n in nodes), len(weights),
        floats[ROW], floats[VECTOR] + len(constants), floats[PARAMETER], place,
        max((w[4] for w in weights), default=PAD), len(constants),
        *value(x), *value(previous), *value(memory), *value(action),
        x.size + ACTION_FLOATS + fed_back, x.size, fed_back,
    )  # fmt: skip
    listed = [
        (NUMBER[n.kind], n.weight, int(_may_keep_sigmoid(n)), *value(n.out), *value(n.a), *value(n.b)) for n in nodes
    ]
    flat = [*head, *(i for row in listed for i in row), *(i for row in weights for i in row)]
    return np.concatenate([np.array(flat, np.int32), constants.view(np.int32)])


def _fill(constant: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.concatenate([constant, np.zeros(padded(len(constant)) - len(constant), np.float32)])


def _may_keep_sigmoid(node: Node) -> bool:
    """A silu whose input nobody else reads may leave the sigmoid there, which the way back needs."""
    source = node.a.buffer
    return node.kind == "silu" and source.space == ROW and source.uses == 1 and node.a.size == source.size
