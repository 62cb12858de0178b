"""Actor and critic learning on imagined rollouts, and the critic's extra loss on replayed steps."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

from blindsave.learning.dreamer import heads, returns, twohot
from blindsave.learning.dreamer.config import Learning
from blindsave.learning.dreamer.imagination import Rollout
from blindsave.learning.dreamer.nets import Params
from blindsave.learning.dreamer.world import Batch

Values = dict[str, Array]


def critic_loss(logits: Array, target: Array, slow: Array, learning: Learning) -> Array:
    """Return the cross-entropy against the return and, as a regulariser, against the slow critic's mean."""
    fixed = jax.lax.stop_gradient
    regulariser = twohot.cross_entropy(logits, fixed(slow))
    return twohot.cross_entropy(logits, fixed(target)) + learning.slow_regression * regulariser


def imagined_losses(
    p: Params, slow: Params, rollout: Rollout, spread: returns.Spread, learning: Learning
) -> tuple[Values, Array, returns.Spread, Values]:
    """Return (actor and critic loss per imagined step, the returns, the new return spread, figures to log).

    The actor learns by the score function, also for continuous actions; the fast critic bootstraps.
    """
    fixed = jax.lax.stop_gradient
    feat = rollout.feature
    reward = twohot.mean(heads.output(p["reward"], feat))
    cont = jax.nn.sigmoid(heads.output(p["continue"], feat)[..., 0])
    logits = heads.output(p["critic"], feat)
    value = twohot.mean(logits)
    slow_value = twohot.mean(heads.output(slow, feat))
    target = fixed(returns.imagined(reward, cont, value, learning.lam))
    weight = fixed(jnp.cumprod(cont, 0)[:-1])
    spread = returns.update_spread(spread, target, learning)
    advantage = fixed((target - value[:-1]) / returns.return_scale(spread, learning))
    policy = heads.act(p["actor"], feat[:-1])
    entropy = policy.entropy()
    score = advantage * policy.log_density(rollout.action) + learning.entropy * entropy
    losses = {
        "actor": -weight * score,
        "critic": weight * critic_loss(logits[:-1], target, slow_value[:-1], learning),
    }
    log = {
        "imagined_return": target,
        "imagined_reward": reward,
        "imagined_value": value,
        "imagined_continue": cont,
        "actor_entropy": entropy,
        "actor_std": policy.std,
        "advantage_size": jnp.abs(advantage),
    }
    return losses, target, spread, log


def replay_loss(p: Params, slow: Params, feat: Array, batch: Batch, start_return: Array, learning: Learning) -> Array:
    """Return the critic's loss on the replayed steps 1 .. T-1; its gradient reaches the world model.

    `start_return` [T, B] is the imagined return R_0 that started at each replayed step.
    """
    gamma = 1.0 - 1.0 / learning.horizon
    target = returns.replayed(batch.reward, batch.terminal, batch.last, start_return, gamma, learning.lam)
    logits = heads.output(p["critic"], feat[:-1])
    slow_value = twohot.mean(heads.output(slow, feat[:-1]))
    inside = 1.0 - batch.last[:-1].astype(jnp.float32)
    return inside * critic_loss(logits, target, slow_value, learning)
