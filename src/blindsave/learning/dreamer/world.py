"""World-model learning: run the posterior over a batch of windows and score what the heads predict."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from blindsave.learning.dreamer import heads, latents, recurrent, scan, twohot
from blindsave.learning.dreamer.config import Config
from blindsave.learning.dreamer.nets import Params


class Batch(NamedTuple):
    """Trained steps of B windows, time-major [T, B, ...], and the state before them."""

    observation: Array
    previous_action: Array
    reward: Array
    first: Array
    last: Array
    terminal: Array
    h: Array
    z: Array


def observe(
    p: Params, m: Params, batch: Batch, uniform: Array | None, config: Config, deferred: bool = False
) -> scan.States:
    """Infer the states of every step from what was observed up to it.

    Everything that needs no recurrent state (tokens, actions) is embedded for all steps at once, before.
    """
    speed = config.speed
    previous = jnp.where(batch.first[..., None], 0.0, batch.previous_action)
    tokens = heads.encode(p["encoder"], batch.observation)
    inputs = scan.Inputs(recurrent.embed_action(m, previous), recurrent.embed_token(m, tokens))
    dtype = inputs.token.dtype
    fixed = scan.Fixed(batch.h.astype(dtype), batch.z.astype(dtype), batch.first, uniform)
    how = scan.How(config.sizes, speed.layout, config.learning.unimix, speed.unroll)
    return (scan.deferred if deferred else scan.plain)(how, m, inputs, fixed)


def binary_cross_entropy(logit: Array, target: Array) -> Array:
    """Return the cross-entropy of a Bernoulli logit against a target probability."""
    return jax.nn.softplus(logit) - target * logit


def losses(p: Params, batch: Batch, states: scan.States, config: Config) -> tuple[dict[str, Array], dict[str, Array]]:
    """Return the five world-model losses per step [T, B], and figures to log.

    The free nats are a floor under the KL summed over all categoricals of a step.
    """
    learning, sizes = config.learning, config.sizes
    feat = heads.feature(states.h, states.z)
    prior_logits = recurrent.prior(p["dynamics"]["prior"], states.h).astype(jnp.float32)

    def kl(post: Array, prior: Array) -> Array:
        return latents.kl(post, prior, sizes.classes, learning.unimix)

    fixed = jax.lax.stop_gradient
    dynamics = kl(fixed(states.logits), prior_logits)
    representation = kl(states.logits, fixed(prior_logits))
    predicted = heads.decode(p["decoder"], states.h, states.z)
    cont = heads.output(p["continue"], feat)[..., 0]
    alive = (1.0 - batch.terminal.astype(jnp.float32)) * (1.0 - 1.0 / learning.horizon)
    out = {
        "observation": jnp.sum((predicted - twohot.symlog(batch.observation)) ** 2, -1),
        "reward": twohot.cross_entropy(heads.output(p["reward"], feat), batch.reward),
        "continue": binary_cross_entropy(cont, alive),
        "dynamics": jnp.maximum(learning.free_nats, dynamics),
        "representation": jnp.maximum(learning.free_nats, representation),
    }
    log = {
        "kl": dynamics,
        "posterior_entropy": latents.entropy(states.logits, sizes.classes, learning.unimix),
        "prior_entropy": latents.entropy(prior_logits, sizes.classes, learning.unimix),
    }
    return out, log
