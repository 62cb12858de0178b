"""One gradient update: one batch, one scalar loss, one backward pass, one optimiser step."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from blindsave.learning.dreamer import behaviour, heads, imagination, latents, model, optimizer, recurrent, world
from blindsave.learning.dreamer.config import Config
from blindsave.learning.dreamer.nets import Params, cast_for_compute
from blindsave.learning.dreamer.returns import Spread, return_scale
from blindsave.learning.dreamer.world import Batch


class Learner(NamedTuple):
    """Everything that learning changes, except the replay."""

    params: Params
    slow: Params
    moments: optimizer.Moments
    spread: Spread


class Posterior(NamedTuple):
    """The new latents of the trained steps, to be written back: h [T, B, deter], class indices z (uint8)."""

    h: Array
    z: Array


def init(key: Array, config: Config) -> Learner:
    """Create a fresh learner; the slow critic starts as a copy of the critic."""
    params = model.init(key, config.sizes)
    slow = jax.tree.map(jnp.copy, params["critic"])
    return Learner(params, slow, optimizer.init(params), Spread.zero())


def total_loss(
    params: Params, slow: Params, spread: Spread, batch: Batch, key: Array, config: Config
) -> tuple[Array, tuple[Posterior, Spread, dict[str, Array]]]:
    """Return the weighted sum of all losses, and (new latents, new return spread, figures to log)."""
    c, sizes = config.learning, config.sizes
    dtype = jnp.dtype(config.speed.dtype)
    p = cast_for_compute(params, dtype)
    slow = jax.lax.stop_gradient(cast_for_compute(slow, dtype))
    m = recurrent.prepare(p["dynamics"], sizes, config.speed.layout)
    posterior_key, imagination_key = jax.random.split(key)

    uniform = jax.random.uniform(posterior_key, (*batch.first.shape, sizes.categoricals))
    states = world.observe(p, m, batch, uniform, config, config.speed.deferred)
    losses, log = world.losses(p, batch, states, config)

    fixed = jax.lax.stop_gradient
    starts = [fixed(x).reshape(-1, x.shape[-1]) for x in (states.h, states.z)]
    rollout = imagination.imagine(fixed(p), fixed(m), starts[0], starts[1], imagination_key, config)
    imagined, target, spread, more = behaviour.imagined_losses(p, slow, rollout, spread, c)
    start_return = target[0].reshape(batch.first.shape)
    feat = heads.feature(states.h, states.z)
    losses |= imagined
    losses["replay_critic"] = behaviour.replay_loss(p, slow, feat, batch, start_return, c)

    means = {name: jnp.mean(loss) for name, loss in losses.items()}
    total = jnp.sum(jnp.stack([getattr(c, f"weight_{name}") * mean for name, mean in means.items()]))
    log = {f"loss_{name}": mean for name, mean in means.items()} | {
        name: jnp.mean(value) for name, value in (log | more).items()
    }
    log |= {"return_low": spread.low, "return_high": spread.high, "return_scale": return_scale(spread, c)}
    posterior = Posterior(fixed(states.h), latents.to_index(fixed(states.z), sizes.classes))
    return total, (posterior, fixed(spread), log | {"loss": total})


def update(learner: Learner, batch: Batch, key: Array, config: Config) -> tuple[Learner, Posterior, dict[str, Array]]:
    """Make one update and return the learner, the new latents and figures to log."""
    gradient = jax.grad(total_loss, has_aux=True)
    arguments = (learner.params, learner.slow, learner.spread, batch, key, config)
    gradients, (posterior, spread, log) = gradient(*arguments)
    params, moments, more = optimizer.update(gradients, learner.moments, learner.params, config.learning)
    rate = config.learning.slow_rate
    slow = jax.tree.map(lambda s, f: (1 - rate) * s + rate * f, learner.slow, params["critic"])
    return Learner(params, slow, moments, spread), posterior, log | more
