"""Which windows an update trains on: the online queue first, then uniform draws or the configured mixture.

Windows are numbered in order of arrival, all environments of one time before the next time: item = (start -
oldest) * environments + environment.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from blindsave.learning.dreamer import replay
from blindsave.learning.dreamer.config import Config
from blindsave.learning.dreamer.replay import Buffer, Windows

BRANCHES = 16
EULER = 0.5772156649015329
EXACT_AGES = 4096


def draw(buffer: Buffer, key: Array, config: Config) -> tuple[Windows, Buffer]:
    """Choose a batch of windows."""
    batch, window = config.learning.batch, config.learning.window
    online, is_online, buffer = replay.take_online(buffer, batch, window)
    if config.replay.sampler == "uniform":
        chosen = to_windows(buffer, uniform_items(buffer, key, batch, window))
    else:
        chosen, buffer = mixture(buffer, key, is_online, config)
    pick = lambda a, b: jnp.where(is_online, a, b)  # noqa: E731
    return Windows(pick(online.env, chosen.env), pick(online.start, chosen.start)), buffer


def item_count(buffer: Buffer, window: int) -> Array:
    """Return how many windows can be drawn."""
    return buffer.reward.shape[0] * replay.starts(buffer, window)


def to_windows(buffer: Buffer, item: Array) -> Windows:
    """Turn item numbers into windows."""
    n = buffer.reward.shape[0]
    return Windows(item % n, replay.oldest(buffer) + item // n)


def uniform_items(buffer: Buffer, key: Array, batch: int, window: int) -> Array:
    """Draw item numbers uniformly."""
    return jax.random.randint(key, (batch,), 0, jnp.maximum(1, item_count(buffer, window)))


def recency_age(uniform: Array, items: Array, capacity: int) -> Array:
    """Turn a uniform number into an age, 0 for the newest item, with weight 1 / (age + 1).

    Ages are drawn over the whole capacity and, while the replay holds fewer items, scaled down and floored. The
    distribution function is a harmonic number: tabulated for small ages, ln(m + 1/2) + Euler's constant beyond.
    """
    table = np.cumsum(1.0 / np.arange(1, EXACT_AGES + 1))
    total = table[-1] if capacity <= EXACT_AGES else math.log(capacity + 0.5) + EULER
    if capacity <= EXACT_AGES:
        total = table[capacity - 1]
    mass = uniform * total
    small = jnp.searchsorted(jnp.asarray(table, jnp.float32), mass, side="right")
    large = jnp.ceil(jnp.exp(mass - EULER) - 0.5) - 1
    age = jnp.where(mass < table[-1], small.astype(jnp.float32), large)
    scaled = jnp.floor(age * (jnp.minimum(items, capacity) / capacity))
    return jnp.clip(scaled.astype(jnp.int32), 0, jnp.maximum(0, items - 1))


def fresh_items(buffer: Buffer, window: int) -> Array:
    """Return, for every item in order of arrival, whether it contains a step no priority draw has covered.

    The array is as long as the replay can ever be; places beyond the existing items are False.
    """
    length = buffer.fresh.shape[1]
    ordered = jnp.roll(buffer.fresh, -(replay.oldest(buffer) % length), 1)
    covered = jnp.cumsum(jnp.pad(ordered, ((0, 0), (1, 0))).astype(jnp.int32), 1)
    any_fresh = covered[:, window:] > covered[:, :-window]
    exists = jnp.arange(any_fresh.shape[1]) < replay.starts(buffer, window)
    return (any_fresh & exists).T.reshape(-1)


def tree_draw(fresh: Array, items: Array, key: Array) -> Array:
    """Descend a 16-ary tree over the items: at each level uniform among children with a fresh item below.

    Where no child has one, uniform among the children that exist. This is the published selector with
    priorities that are infinite (fresh) or zero.
    """
    depth = max(1, math.ceil(math.log(max(2, fresh.shape[0]), BRANCHES) - 1e-9))
    level = jnp.pad(fresh, (0, BRANCHES**depth - fresh.shape[0]))
    levels = [level]
    for _ in range(depth - 1):
        levels.append(levels[-1].reshape(-1, BRANCHES).any(1))
    # A tree of n items is only as deep as n needs; higher levels then have a single child and change nothing.
    node = jnp.zeros((), jnp.int32)
    for height, key_here in zip(range(depth - 1, -1, -1), jax.random.split(key, depth), strict=True):
        child = node * BRANCHES + jnp.arange(BRANCHES)
        exists = child * BRANCHES**height < items
        hot = levels[height][child] & exists
        eligible = jnp.where(hot.any(), hot, exists)
        node = child[jnp.argmax(jnp.where(eligible, jax.random.uniform(key_here, (BRANCHES,)), -1.0))]
    return node


def mixture(buffer: Buffer, key: Array, skip: Array, config: Config) -> tuple[Windows, Buffer]:
    """Draw each window by a randomly chosen selector: uniform, priority or recency.

    A priority draw marks its steps as covered before the next draw; draws under `skip` (served by the online
    queue) leave everything as it is.
    """
    window, choice = config.learning.window, config.replay
    items = item_count(buffer, window)
    length = buffer.reward.shape[1]
    shares = jnp.array([choice.fraction_uniform, choice.fraction_priority, choice.fraction_recency])

    def one(fresh: Array, x: tuple[Array, Array]) -> tuple[Array, Array]:
        key, skipped = x
        which_key, draw_key = jax.random.split(key)
        which = jax.random.categorical(which_key, jnp.log(shares))
        here = buffer._replace(fresh=fresh)

        def by_uniform(fresh: Array) -> tuple[Array, Array]:
            return uniform_items(here, draw_key, 1, window)[0], fresh

        def by_priority(fresh: Array) -> tuple[Array, Array]:
            item = tree_draw(fresh_items(here, window), items, draw_key)
            drawn = to_windows(here, item)
            slot = (drawn.start + jnp.arange(window)) % length
            return item, fresh.at[drawn.env, slot].set(False)

        def by_recency(fresh: Array) -> tuple[Array, Array]:
            age = recency_age(jax.random.uniform(draw_key), items, choice.capacity)
            return jnp.maximum(items - 1 - age, 0), fresh

        branches = [by_uniform, by_priority, by_recency]
        item, fresh = jax.lax.switch(jnp.where(skipped, 0, which), branches, fresh)
        return fresh, item

    keys = jax.random.split(key, config.learning.batch)
    fresh, item = jax.lax.scan(one, buffer.fresh, (keys, skip))
    return to_windows(buffer, item), buffer._replace(fresh=fresh)
