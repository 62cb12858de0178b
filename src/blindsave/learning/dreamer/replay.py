"""The replay: every environment's unbroken stream of transitions, held on the device.

Arrays are [environments, slots, ...], in a population [teachers, environments, slots, ...]; all environments advance
together, so one count says how far. Time t of a stream lies in slot t mod slots. A window is `window` consecutive times
of one stream: its first step is context (its stored latents start the recurrent state, its action is the first previous
action), the rest is trained on. After an update the new latents of the trained steps replace the stored ones
(`write_back`).
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from blindsave.learning.dreamer import latents
from blindsave.learning.dreamer.config import Config
from blindsave.learning.dreamer.world import Batch


class Buffer(NamedTuple):
    """The stored streams. `clock` is the number of times stored per environment since the beginning.

    `h` holds the bits of bfloat16 values: as integers they are moved, never converted. (XLA widens bfloat16
    scatters on a CPU, and would rewrite the whole array for every update.)
    """

    observation: Array
    action: Array
    reward: Array
    first: Array
    last: Array
    terminal: Array
    h: Array
    z: Array
    # Mixture sampling only: steps that no priority draw has covered yet (empty otherwise).
    fresh: Array
    clock: Array
    online_used: Array


class Transition(NamedTuple):
    """One time step of all environments: what was seen, what was then done, and the state at that time."""

    observation: Array
    action: Array
    reward: Array
    first: Array
    last: Array
    terminal: Array
    h: Array
    z: Array


class Windows(NamedTuple):
    """Which windows were drawn: environment and time of the first step."""

    env: Array
    start: Array


def slots(config: Config) -> int:
    """Return the slots per environment: the capacity, but no more than the run can fill."""
    training = config.training
    longest = -(-training.steps // training.envs) + config.learning.window
    capacity = -(-config.replay.capacity // training.envs) + config.learning.length
    return max(min(longest, capacity), config.learning.window)


def create(config: Config) -> Buffer:
    """Allocate an empty replay."""
    length, s, population = slots(config), config.sizes, config.training.population
    n = (config.training.envs,) if population == 1 else (population, config.training.envs)
    fresh = length if config.replay.sampler == "mixture" else 0
    return Buffer(
        observation=jnp.zeros((*n, length, s.observation), jnp.float32),
        action=jnp.zeros((*n, length, s.action), jnp.float32),
        reward=jnp.zeros((*n, length), jnp.float32),
        first=jnp.zeros((*n, length), bool),
        last=jnp.zeros((*n, length), bool),
        terminal=jnp.zeros((*n, length), bool),
        h=jnp.zeros((*n, length, s.deter), jnp.uint16),
        z=jnp.zeros((*n, length, s.categoricals), jnp.uint8),
        fresh=jnp.zeros((*n, fresh), bool),
        clock=jnp.zeros((), jnp.int32),
        online_used=jnp.zeros((), jnp.int32),
    )


def to_bits(h: Array) -> Array:
    """Round a recurrent state to bfloat16 and return its bits."""
    return jax.lax.bitcast_convert_type(h.astype(jnp.bfloat16), jnp.uint16)


def from_bits(bits: Array) -> Array:
    """Return the bfloat16 values of stored bits."""
    return jax.lax.bitcast_convert_type(bits, jnp.bfloat16)


def insert(buffer: Buffer, new: Transition) -> Buffer:
    """Append one time step to every stream, over the oldest one when the replay is full."""
    new = new._replace(h=to_bits(jnp.asarray(new.h)))
    slot = buffer.clock % buffer.reward.shape[1]
    stored = {
        name: jax.lax.dynamic_update_index_in_dim(old, value.astype(old.dtype), slot, 1)
        for name, value in new._asdict().items()
        for old in (getattr(buffer, name),)
    }
    if buffer.fresh.shape[1]:
        newest = jnp.ones((buffer.fresh.shape[0],), bool)
        stored["fresh"] = jax.lax.dynamic_update_index_in_dim(buffer.fresh, newest, slot, 1)
    return buffer._replace(**stored, clock=buffer.clock + 1)


def oldest(buffer: Buffer) -> Array:
    """Return the time of the oldest stored step."""
    return jnp.maximum(0, buffer.clock - buffer.reward.shape[-1])


def starts(buffer: Buffer, window: int) -> Array:
    """Return how many windows each stream holds."""
    return jnp.maximum(0, buffer.clock - oldest(buffer) - window + 1)


def online_waiting(buffer: Buffer, window: int) -> Array:
    """Return how many windows wait in the online queue.

    The queue receives the disjoint windows that start at times 1, 1 + window, 1 + 2 window, ... of every
    stream, in order, as soon as they are complete; each is used once. So the queue is a pair of counts.
    """
    n = buffer.reward.shape[0]
    return n * jnp.maximum(0, (buffer.clock - 1) // window) - buffer.online_used


def take_online(buffer: Buffer, batch: int, window: int) -> tuple[Windows, Array, Buffer]:
    """Return up to `batch` windows of the online queue, a mask of which are real, and the replay without them.

    A window whose beginning is no longer stored is used up without being returned.
    """
    n = buffer.reward.shape[0]
    index = jnp.arange(batch)
    item = buffer.online_used + index
    windows = Windows(item % n, 1 + window * (item // n))
    taken = index < online_waiting(buffer, window)
    used = buffer.online_used + jnp.sum(taken)
    return windows, taken & (windows.start >= oldest(buffer)), buffer._replace(online_used=used)


def gather(buffer: Buffer, windows: Windows, config: Config) -> Batch:
    """Read windows as a time-major batch; `last` is also set wherever the next step is a reset."""
    length = buffer.reward.shape[1]
    time = windows.start[None, :] + jnp.arange(config.learning.window)[:, None]
    env, slot = windows.env[None, :], time % length

    def read(array: Array, part: slice) -> Array:
        return array[jnp.broadcast_to(env, slot.shape)[part], slot[part]]

    trained = slice(1, None)
    first = read(buffer.first, trained)
    following = jnp.concatenate([first[1:], jnp.zeros_like(first[:1])])
    z = read(buffer.z, slice(0, 1))[0]
    return Batch(
        observation=read(buffer.observation, trained),
        previous_action=read(buffer.action, slice(None, -1)),
        reward=read(buffer.reward, trained),
        first=first,
        last=read(buffer.last, trained) | following,
        terminal=read(buffer.terminal, trained),
        h=from_bits(read(buffer.h, slice(0, 1))[0]),
        z=latents.one_hot(z, config.sizes.classes, jnp.bfloat16),
    )


def write_back(buffer: Buffer, windows: Windows, h: Array, z: Array) -> Buffer:
    """Replace the stored latents of the trained steps by new ones, [T, B, ...]."""
    time = windows.start[None, :] + 1 + jnp.arange(h.shape[0])[:, None]
    env = jnp.broadcast_to(windows.env[None, :], time.shape)
    slot = time % buffer.reward.shape[1]
    return buffer._replace(
        h=buffer.h.at[env, slot].set(to_bits(h)),
        z=buffer.z.at[env, slot].set(z.astype(buffer.z.dtype)),
    )
