"""Rebuild the latents of a replay that was stored without them, by running the posterior along the streams."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from blindsave.learning.dreamer import latents, population, recurrent, replay, world
from blindsave.learning.dreamer.config import Config
from blindsave.learning.dreamer.nets import Params, cast_for_compute

CHUNK = 256


def rebuild(buffer: replay.Buffer, params: Params, key: Array, config: Config) -> replay.Buffer:
    """Fill in h and z of every stored step, with samples of the current posterior.

    Stored latents are a mixture of many ages anyway (each from when its step was acted on or last trained on); the
    rebuilt ones are all of the present.
    """
    begin, end = int(replay.oldest(buffer)), int(buffer.clock)
    n, s = buffer.reward.shape[:-1], config.sizes
    state = jnp.zeros((*n, s.deter), jnp.bfloat16), jnp.zeros((*n, s.latent), jnp.bfloat16)
    axes = population.BUFFER_AXES
    chunk = population.mapped(partial(_chunk, config=config), config, (axes, 0, 0, None, 0), (axes, 0))
    run = jax.jit(chunk, donate_argnums=(0,))
    for start in range(begin, end, CHUNK):
        buffer, state = run(buffer, params, state, np.int32(start), key)
    return buffer


def _chunk(
    buffer: replay.Buffer, params: Params, state: tuple[Array, Array], start: Array, key: Array, config: Config
) -> tuple[replay.Buffer, tuple[Array, Array]]:
    n, length = buffer.reward.shape
    time = start + jnp.arange(CHUNK)
    inside = time < buffer.clock
    slot = jnp.where(inside, time % length, length)  # writes beyond the end fall away
    read = lambda a, at: jnp.swapaxes(jnp.take(a, at % length, 1), 0, 1)  # noqa: E731
    flags = read(buffer.first, slot)
    batch = world.Batch(
        observation=read(buffer.observation, slot),
        previous_action=read(buffer.action, time - 1),
        reward=read(buffer.reward, slot),
        first=flags,
        last=flags,
        terminal=flags,
        h=state[0],
        z=state[1],
    )
    p = cast_for_compute(params, jnp.dtype(config.speed.dtype))
    m = recurrent.prepare(p["dynamics"], config.sizes, config.speed.layout)
    uniform = jax.random.uniform(jax.random.fold_in(key, start), (CHUNK, n, config.sizes.categoricals))
    states = world.observe(p, m, batch, uniform, config)
    z = latents.to_index(states.z, config.sizes.classes)
    buffer = buffer._replace(
        h=buffer.h.at[:, slot].set(replay.to_bits(jnp.swapaxes(states.h, 0, 1)), mode="drop"),
        z=buffer.z.at[:, slot].set(jnp.swapaxes(z, 0, 1), mode="drop"),
    )
    return buffer, (states.h[-1].astype(state[0].dtype), states.z[-1].astype(state[1].dtype))
