"""The students' loss over a laid-out batch: encoder and head over all rows at once, only the memory step by step."""

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from blindsave.errors import BadInput
from blindsave.learning.distil.dataset import Episodes
from blindsave.learning.distil.execution import Execution
from blindsave.learning.distil.jax_ops import JaxOps
from blindsave.learning.distil.layout import BatchLayout
from blindsave.learning.distil.table import table_rows
from blindsave.policies.base import ACTION_FLOATS
from blindsave.policies.students.core import MemoryCore
from blindsave.policies.students.family import Family

Params = Mapping[str, Any]


class Table(NamedTuple):
    """Data on the device: a row per step, [encoder input, label, previous action], and where episodes lie."""

    rows: Any
    offsets: Any
    steps: Any


def make_table(family: Family, data: Episodes) -> Table:
    """Put episodes on the device in the form a family trains on."""
    if len(data.obs) >= 2**31:
        raise BadInput("more than 2**31 transitions do not fit into one table")
    offsets, steps = data.offsets[:-1].astype(np.int32), data.steps.astype(np.int32)
    return Table(*map(jnp.asarray, (table_rows(family, data), offsets, steps)))


def batch_loss(
    family: Family, params: Params, table: Table, layout: BatchLayout, episodes: Any, chunk: int, execution: Execution
) -> tuple[Any, Any]:
    """Sum of the episodes' losses and their number, for one batch of episode numbers (longest first, -1 for none).

    An episode's loss is the mean squared error over its valid steps and both action values.
    """
    row, weight = _address(table, layout, episodes)
    inputs, label, previous = _fields(family, table.rows[row])
    predicted = rows_forward(family, params, layout, inputs, previous, chunk, execution)
    return jnp.sum(weight * jnp.sum((predicted - label) ** 2, axis=-1)), jnp.sum(episodes >= 0)


def rows_forward(
    family: Family, params: Params, layout: BatchLayout, inputs: Any, previous: Any, chunk: int, execution: Execution
) -> Any:
    """Actions for laid-out rows, with given previous actions. Gradients do not cross multiples of `chunk`."""
    codes = family.encode(JaxOps, params, inputs)
    if not family.core.recurrent:
        return family.act(JaxOps, params, None, codes)
    p = family.core_parameters(params)
    drives = family.core.drive(JaxOps, p, codes, previous)
    memory = jnp.zeros((layout.batch, family.core.memory), jnp.float32)
    parts, begin = [], 0
    for segment in layout.segments:
        memory = memory[: segment.episodes]
        if segment.start and segment.start % chunk == 0:
            memory = jax.lax.stop_gradient(memory)
        end, shape = begin + segment.rows, (segment.stop - segment.start, segment.episodes)
        now = tuple(d if d.ndim == 1 else d[begin:end].reshape(*shape, d.shape[-1]) for d in drives)
        memories = advance_all(family.core, p, memory, now, shape, execution)
        memory, begin = memories[-1], end
        parts.append(memories.reshape(segment.rows, -1))
    return family.act(JaxOps, params, jnp.concatenate(parts), codes)


def advance_all(
    core: MemoryCore, p: Params, memory: Any, drives: tuple[Any, ...], shape: tuple[int, int], execution: Execution
) -> Any:
    """All memories (T, B, M) of a segment. Drives that are the same at every step stay outside the loop."""
    if core.associative and execution.scan == "associative":
        whole = tuple(jnp.broadcast_to(d, (*shape, d.shape[-1])) for d in drives)
        return core.advance(JaxOps, p, memory, jax.lax.associative_scan(partial(core.combine, JaxOps), whole))
    varying = tuple(d for d in drives if d.ndim > 1)

    def body(memory: Any, now: tuple[Any, ...]) -> tuple[Any, Any]:
        rest = iter(now)
        memory = core.advance(JaxOps, p, memory, tuple(next(rest) if d.ndim > 1 else d for d in drives))
        return memory, memory

    return jax.lax.scan(body, memory, varying, length=shape[0], unroll=min(execution.unroll, shape[0]))[1]


def _address(table: Table, layout: BatchLayout, episodes: Any) -> tuple[Any, Any]:
    """Row numbers in the table and loss weights of a batch's rows; padding reads some row and weighs nothing."""
    time, rank = jnp.asarray(layout.time), jnp.asarray(layout.rank)
    steps = jnp.where(episodes < 0, 0, table.steps[episodes])
    length = steps[rank]
    row = table.offsets[episodes][rank] + jnp.clip(time, 0, jnp.maximum(length - 1, 0))
    weight = jnp.where(time < length, 1.0 / (ACTION_FLOATS * jnp.maximum(length, 1)), 0.0)
    return row, weight.astype(jnp.float32)


def _fields(family: Family, rows: Any) -> tuple[Any, Any, Any]:
    a = family.core.observed
    b = a + ACTION_FLOATS
    return rows[:, :a], rows[:, a:b], rows[:, b:]
