"""Roll the world model forward under the actor's own actions, without observations and without gradients."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from blindsave.learning.dreamer import heads, latents, recurrent
from blindsave.learning.dreamer.config import Config
from blindsave.learning.dreamer.nets import Params


class Rollout(NamedTuple):
    """Features of steps 0 .. H and actions of steps 0 .. H-1, time-major."""

    feature: Array
    action: Array


def imagine(p: Params, m: Params, h: Array, z: Array, key: Array, config: Config) -> Rollout:
    """Imagine H steps from n start states; only actor and dynamics run here, the other heads follow at once."""
    sizes, learning = config.sizes, config.learning
    steps, n = learning.imagination, h.shape[0]
    site = recurrent.plain_site(m, sizes, config.speed.layout)
    action_key, latent_key = jax.random.split(key)
    noise = jax.random.normal(action_key, (steps, n, sizes.action))
    uniform = jax.random.uniform(latent_key, (steps, n, sizes.categoricals))

    def step(state: tuple[Array, Array], x: tuple[Array, Array]):
        h, z = state
        feat = heads.feature(h, z)
        action = heads.act(p["actor"], feat).sample(x[0])
        h = recurrent.advance(site, sizes, h, z, recurrent.embed_action(m, action))
        logits = recurrent.prior(p["dynamics"]["prior"], h)
        z = latents.sample(logits, sizes.classes, learning.unimix, x[1]).astype(h.dtype)
        return (h, z), (feat, action)

    unroll = config.speed.imagination_unroll
    (h, z), (features, actions) = jax.lax.scan(step, (h, z), (noise, uniform), unroll=unroll)
    rollout = Rollout(jnp.concatenate([features, heads.feature(h, z)[None]]), actions)
    return jax.lax.stop_gradient(rollout)
