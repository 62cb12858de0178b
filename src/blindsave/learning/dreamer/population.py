"""One program for several teachers: the functions of one, mapped over a leading axis of teachers.

A run of one teacher has no such axis. Where there is one, everything that all teachers do in step (the replay's
counters, how many updates are due) stays without it: loops keep one trip count, and storing a step stays one
contiguous write instead of a scatter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from blindsave.learning.dreamer.config import Config
from blindsave.learning.dreamer.replay import Buffer

IN_STEP = ("clock", "online_used")
BUFFER_AXES = Buffer._make(None if name in IN_STEP else 0 for name in Buffer._fields)


def mapped(function: Callable[..., Any], config: Config, in_axes: Any = 0, out_axes: Any = 0) -> Callable[..., Any]:
    """Return the function for all teachers of the configuration at once; for a single teacher itself."""
    return function if config.training.population == 1 else jax.vmap(function, in_axes, out_axes)


def copies(tree: Any, config: Config) -> Any:
    """Return one copy of a tree's arrays per teacher."""
    n = config.training.population
    return tree if n == 1 else jax.tree.map(lambda a: jnp.broadcast_to(a, (n, *a.shape)), tree)


def split_keys(config: Config, n: int) -> tuple[Any, ...]:
    """Return `n` random keys from each teacher's seed."""
    seeds = config.training.seed + np.arange(config.training.population)

    def split(seed: Any) -> tuple[Any, ...]:
        return tuple(jax.random.split(jax.random.key(seed), n))

    return mapped(split, config)(seeds if len(seeds) > 1 else config.training.seed)
