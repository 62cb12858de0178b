"""A student's step as a graph the native trainer can run forwards and backwards.

The family's own step is recorded as for a `Program`, but parameters stay symbols, so that gradients reach them. What
the trainer does not know (`UnknownOperation`) is trained with JAX instead.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from blindsave.policies.base import ACTION_FLOATS
from blindsave.policies.program import round_up
from blindsave.policies.students.family import Family
from blindsave.policies.trace import Node, Symbol, Tracer, UnknownOperation

ROW, CARRY, VECTOR, PARAMETER, CONSTANT, BRIEF = 1, 2, 3, 4, 5, 6
"""Where floats lie; in the description constants are the first vectors, and brief values, which the way back does not
read, the last of a row."""
SHARED = (VECTOR, PARAMETER, CONSTANT)
"""The same for all rows."""
KINDS = ("copy", "silu", "tanh", "sigmoid", "exp", "log", "sqrt", "add", "sub", "mul", "div", "linear")
"""What the trainer knows, in its own order."""


@dataclass(frozen=True, eq=False)
class Graph:
    """A family's step, ready for the native trainer."""

    description: NDArray[np.int32]
    shapes: dict[str, tuple[int, ...]]
    """Parameters in the order in which they lie in one flat vector."""

    def flat(self, params: Mapping[str, Any]) -> NDArray[np.float32]:
        """Parameters as one vector (or one per seed, on leading axes): always a copy."""
        arrays = [(np.asarray(params[name], np.float32), len(shape)) for name, shape in self.shapes.items()]
        return np.concatenate([a.reshape(*a.shape[: a.ndim - axes], -1) for a, axes in arrays], axis=-1)

    def named(self, flat: NDArray[np.float32]) -> dict[str, NDArray[np.float32]]:
        """The inverse of `flat`."""
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
    core, ops = family.core, Tracer()
    params = {name: ops.given("parameter", *shape) for name, shape in family.shapes.items()}
    x, previous, carry = (ops.given("input", size) for size in (core.observed, ACTION_FLOATS, core.memory))
    memory = None
    try:
        code = family.encode(ops, params, x)
        if core.recurrent:
            p = family.core_parameters(params)
            memory = core.advance(ops, p, carry, core.drive(ops, p, code, previous))
            if memory.node is carry.node or memory.size != memory.node.size:
                memory = ops.copy(memory)
        action = family.act(ops, params, memory, code)
    except (AttributeError, TypeError) as error:  # the step treats parameters as arrays
        raise UnknownOperation(f"the native trainer cannot follow {family.name}: {error}") from error
    ends = [action] if memory is None else [memory, action]
    placed = _Placement([*params.values()], [x, previous], carry, ops.nodes, ends)
    return Graph(_describe(placed, x, previous, memory, action), dict(family.shapes))


class Value(NamedTuple):
    """Where some floats lie: `bs_value` of trainer_core/graph.h."""

    space: int = 0
    place: int = 0
    column: int = 0
    stride: int = 0
    size: int = 0
    differentiable: int = 0


class _Placement:
    """Where the trainer keeps every node, and what it does in turn."""

    def __init__(
        self, parameters: list[Symbol], inputs: list[Symbol], carry: Symbol, nodes: list[Node], ends: list[Symbol]
    ) -> None:
        self.floats: dict[int, int] = dict.fromkeys((ROW, BRIEF, CARRY, *SHARED), 0)
        self.lasting = {symbol.node for symbol in ends}.union(*map(_read_back, nodes))
        self.held: dict[Node, tuple[int, int, bool]] = {}  # (space, place, differentiable)
        self.constants: list[NDArray[np.float32]] = [np.zeros(0, np.float32)]
        self.weights: list[Node] = []
        self.reads = Counter(arg.node for node in nodes for arg in _read(node))
        for symbol in parameters:
            self._put(symbol.node, PARAMETER, True)
        for symbol in inputs:
            self._put(symbol.node, ROW, False)
        self._put(carry.node, CARRY, True)
        self.steps = [step for node in nodes for step in self._steps(node)]

    def _put(self, node: Node, space: int, differentiable: bool) -> None:
        """Parameters lie densely, everything else on padded places (BS_PAD of trainer_core/graph.h)."""
        self.held[node] = (space, self.floats[space], differentiable)
        self.floats[space] += node.size if space == PARAMETER else round_up(node.size)

    def value(self, symbol: Symbol) -> Value:
        """The place of a symbol; a constant gets a new one at every use."""
        node = symbol.node
        if node.value is not None:
            self.constants.append(np.pad(node.value, (0, round_up(node.size) - node.size)))
            self._put(node, CONSTANT, False)
        space, place, differentiable = self.held[node]
        stride = 0 if space in SHARED else round_up(node.size)
        return Value(space, place, symbol.offset, stride, symbol.size, int(differentiable))

    def _steps(self, node: Node) -> Iterator[tuple[int, int, int, Value, Value, Value]]:
        """(kind, weight, keeps sigmoid, out, a, b) of everything that fills a node."""
        if node.kind not in (*KINDS, "concat"):
            raise UnknownOperation(f"the native trainer does not know `{node.kind}`")
        weight, keeps = self._weight(node), int(self._may_keep_sigmoid(node))
        read = [self.value(arg) for arg in _read(node)]
        shared, linear = all(value.space in SHARED for value in read), node.kind == "linear"
        space = VECTOR if shared else ROW if node in self.lasting else BRIEF
        self._put(node, space, linear or any(value.differentiable for value in read))
        out = self.value(Symbol(node.args[0].tracer, node, 0, node.size))
        if node.kind != "concat":
            yield KINDS.index(node.kind), weight, keeps, out, read[0], read[1] if read[1:] else Value()
            return
        for (kind, offset, size, _), value in zip(node.writes(), read, strict=True):
            yield KINDS.index(kind), 0, 0, out._replace(column=offset, size=size), value, Value()

    def _weight(self, node: Node) -> int:
        """The number of a linear map's matrix, which must be a parameter."""
        if node.kind != "linear":
            return 0
        x, weight = (arg.node for arg in node.args[:2])
        if weight.kind != "parameter" or len(weight.shape) != 2 or self.held.get(x, (CONSTANT,))[0] in SHARED:
            raise UnknownOperation("only x times one matrix of parameters can be trained natively")
        if weight not in self.weights:
            self.weights.append(weight)
        return self.weights.index(weight)

    def _may_keep_sigmoid(self, node: Node) -> bool:
        """A silu whose input nobody else reads may leave the sigmoid there, which the way back needs."""
        if node.kind != "silu":
            return False
        source = node.args[0]
        return self.held[source.node][0] == ROW and self.reads[source.node] == 1 and source.size == source.node.size


def _read(node: Node) -> tuple[Symbol, ...]:
    """What an operation reads apart from a weight; a linear map without a start reads none."""
    if node.kind != "linear":
        return node.args
    x, _, start = node.args
    absent = start.node.value is not None and not start.node.learned and not start.node.value.any()
    return (x,) if absent else (x, start)


def _read_back(node: Node) -> tuple[Node, ...]:
    """The values that the gradient of an operation is made from."""
    arguments = tuple(arg.node for arg in node.args)
    match node.kind:
        case "mul" | "div" | "log":
            return arguments
        case "linear":
            return arguments[:1]
        case "silu":
            return (*arguments, node)
        case "tanh" | "sigmoid" | "exp" | "sqrt":
            return (node,)
    return ()


def _describe(
    placed: _Placement, x: Symbol, previous: Symbol, memory: Symbol | None, action: Symbol
) -> NDArray[np.int32]:
    """The integers of trainer_core/graph.h."""
    constants, floats = np.concatenate(placed.constants), placed.floats

    def value(found: Value) -> Value:
        if found.space == VECTOR:
            return found._replace(place=found.place + len(constants))
        if found.space == BRIEF:
            return found._replace(space=ROW, place=found.place + floats[ROW])
        return found._replace(space=VECTOR) if found.space == CONSTANT else found

    if memory is not None and placed.value(memory).space != ROW:
        raise UnknownOperation("a memory that is the same in every episode cannot be trained natively")
    steps = sorted(placed.steps, key=lambda step: step[3].space != VECTOR)  # those of parameters alone come first
    weights, place = [], 0
    for node in placed.weights:
        out, inner = node.shape
        weights.append((placed.held[node][1], out, inner, round_up(out), round_up(inner), place))
        place += round_up(out) * round_up(inner)
    ends = (placed.value(symbol) if symbol is not None else Value() for symbol in (x, previous, memory, action))
    fed_back = 0 if memory is None else previous.size
    flat = [
        len(steps), sum(step[3].space == VECTOR for step in steps), len(weights),
        floats[ROW] + floats[BRIEF], floats[ROW], floats[VECTOR] + len(constants), floats[PARAMETER], place,
        max((weight[4] for weight in weights), default=0), len(constants),
        *(number for end in ends for number in value(end)), x.size + ACTION_FLOATS + fed_back, x.size, fed_back,
    ]  # fmt: skip
    for kind, weight, keeps, *places in steps:
        flat += [kind, weight, keeps, *(number for found in places for number in value(found))]
    for row in weights:
        flat += row
    return np.concatenate([np.array(flat, np.int32), constants.view(np.int32)])
