"""Lambda-returns in imagination and on replayed steps, and the running scale of returns. Time is the first axis."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from blindsave.learning.dreamer.config import Learning


def _backward_recurrence(constant: Array, factor: Array, final: Array) -> Array:
    """Solve R_i = constant_i + factor_i R_{i+1} with R_n = final, for i = 0 .. n-1, in log(n) parallel steps."""
    constant = jnp.concatenate([constant, final[None]])
    factor = jnp.concatenate([factor, jnp.zeros_like(final)[None]])

    def join(later: tuple[Array, Array], earlier: tuple[Array, Array]) -> tuple[Array, Array]:
        return earlier[0] + earlier[1] * later[0], earlier[1] * later[1]

    solved, _ = jax.lax.associative_scan(join, (constant, factor), reverse=True)
    return solved[:-1]


def imagined(reward: Array, cont: Array, value: Array, lam: float) -> Array:
    """Return R_0 .. R_{H-1} of an imagined rollout whose arrays hold steps 0 .. H.

    R_i = r_{i+1} + c_{i+1} ((1 - lam) v_{i+1} + lam R_{i+1}), R_H = v_H. The continue probability already
    contains the discount.
    """
    constant = reward[1:] + cont[1:] * (1 - lam) * value[1:]
    return _backward_recurrence(constant, cont[1:] * lam, value[-1])


def replayed(reward: Array, terminal: Array, last: Array, bootstrap: Array, gamma: float, lam: float) -> Array:
    """Return R'_1 .. R'_{T-1} of T replayed steps; `bootstrap` is the imagined return started at each step.

    Nothing is carried across an episode's last step; nothing is bootstrapped from a terminal one.
    """
    live = gamma * (1.0 - terminal[1:].astype(jnp.float32))
    through = lam * (1.0 - last[1:].astype(jnp.float32))
    constant = reward[1:] + live * (1 - through) * bootstrap[1:]
    return _backward_recurrence(constant, live * through, bootstrap[-1])


class Spread(NamedTuple):
    """Running 5th and 95th percentile of imagined returns; both start at zero, without bias correction."""

    low: Array
    high: Array

    @staticmethod
    def zero() -> Spread:
        """Return the state before the first update."""
        return Spread(jnp.zeros(()), jnp.zeros(()))


def update_spread(spread: Spread, returns: Array, config: Learning) -> Spread:
    """Move both percentiles towards those of the given returns."""
    low, high = jnp.percentile(returns, jnp.array([5.0, 95.0]))
    rate = config.return_rate
    return Spread((1 - rate) * spread.low + rate * low, (1 - rate) * spread.high + rate * high)


def return_scale(spread: Spread, config: Learning) -> Array:
    """Return the divisor of advantages: the percentile range, at least `return_limit`."""
    return jnp.maximum(config.return_limit, spread.high - spread.low)
