"""LaProp with adaptive gradient clipping, for a whole parameter tree at once.

Both work per tensor, but a tree has about ninety tensors, and ninety times a dozen tiny operations is most of
an optimiser's time on a GPU. So the tree is packed into one matrix of 128 columns, each tensor padded with zeros to
whole rows, and every step is one operation on that matrix.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from blindsave.learning.dreamer.config import Learning
from blindsave.learning.dreamer.nets import Params

COLUMNS = 128


class Moments(NamedTuple):
    """The optimiser's state: packed first and second moment, and how many updates were made."""

    first: Array
    second: Array
    made: Array


def rows_of(tree: Params) -> list[int]:
    """Return how many packed rows each tensor takes."""
    return [-(-leaf.size // COLUMNS) for leaf in jax.tree.leaves(tree)]


def pack(tree: Params) -> Array:
    """Lay out all tensors as rows of one float32 matrix."""
    parts = []
    for leaf, rows in zip(jax.tree.leaves(tree), rows_of(tree), strict=True):
        flat = leaf.astype(jnp.float32).reshape(-1)
        parts.append(jnp.pad(flat, (0, rows * COLUMNS - leaf.size)).reshape(rows, COLUMNS))
    return jnp.concatenate(parts)


def unpack(packed: Array, like: Params) -> Params:
    """Invert `pack`; `like` gives the shapes."""
    leaves, structure = jax.tree.flatten(like)
    offsets = np.cumsum([0, *rows_of(like)])
    parts = [
        packed[start : start + rows].reshape(-1)[: leaf.size].reshape(leaf.shape)
        for leaf, start, rows in zip(leaves, offsets, rows_of(like), strict=False)
    ]
    return jax.tree.unflatten(structure, parts)


def init(params: Params) -> Moments:
    """Return the state before the first update."""
    shape = (sum(rows_of(params)), COLUMNS)
    return Moments(jnp.zeros(shape), jnp.zeros(shape), jnp.zeros((), jnp.int32))


def tensor_norms(packed: Array, owner: np.ndarray, tensors: int) -> Array:
    """Return the Euclidean norm of each tensor; `owner` says which tensor a row belongs to."""
    per_row = jnp.sum(packed * packed, 1)
    mine = owner[None, :] == np.arange(tensors)[:, None]
    return jnp.sqrt(jnp.sum(jnp.where(mine, per_row[None, :], 0.0), 1))


def update(
    gradients: Params, moments: Moments, params: Params, c: Learning
) -> tuple[Params, Moments, dict[str, Array]]:
    """Make one step; returns new parameters, new state and figures to log.

    1. Clip each tensor's gradient to `agc` times its parameter norm. 2. Divide by the root of the second
    moment. 3. Average with momentum. 4. Step; the learning rate rises linearly over the first `warmup` updates.
    """
    rows = rows_of(params)
    owner = np.repeat(np.arange(len(rows)), rows)
    g, theta = pack(gradients), pack(params)
    g_norm = tensor_norms(g, owner, len(rows))
    limit = c.agc * jnp.maximum(c.agc_floor, tensor_norms(theta, owner, len(rows)))
    excess = jnp.maximum(1.0, g_norm / limit)
    g = g / excess[owner][:, None]

    n = moments.made + 1
    second = c.beta2 * moments.second + (1 - c.beta2) * g * g
    scaled = g / (jnp.sqrt(second / (1 - c.beta2**n)) + c.epsilon)
    first = c.beta1 * moments.first + (1 - c.beta1) * scaled
    step = first / (1 - c.beta1**n)
    rate = c.learning_rate * jnp.minimum(1.0, (n - 1) / c.warmup)
    theta = theta - rate * step

    log = {
        "gradient_norm": jnp.sqrt(jnp.sum(g_norm**2)),
        "clipped_tensors": jnp.mean(excess > 1.0),
        "learning_rate": rate,
    }
    return unpack(theta, params), Moments(first, second, n), log
