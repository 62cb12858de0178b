"""Symlog, and scalar prediction as a distribution over symexp-spaced bins (two-hot)."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

SPAN = 20.0


def symlog(x: Array) -> Array:
    """Compress large magnitudes: sign(x) ln(1 + |x|)."""
    return jnp.sign(x) * jnp.log1p(jnp.abs(x))


def symexp(x: Array) -> Array:
    """Invert `symlog`: sign(x) (e^|x| - 1)."""
    return jnp.sign(x) * jnp.expm1(jnp.abs(x))


@functools.cache
def bins(n: int) -> np.ndarray:
    """Return the `n` (odd) bin centres, symmetric about an exact zero, evenly spaced in symlog."""
    half = np.linspace(-SPAN, 0.0, (n - 1) // 2 + 1, dtype=np.float32)
    half = -np.expm1(np.abs(half)).astype(np.float32)
    half[-1] = 0.0
    return np.concatenate([half, -half[:-1][::-1]])


def weights(target: Array, n: int) -> Array:
    """Split each target linearly between its two neighbouring bins; shape gains a last axis of `n`.

    Bin i receives the value of a hat function that is 1 at its centre and 0 at its neighbours, so that no
    search is needed; targets outside the bins are clamped to the outermost ones.
    """
    b = bins(n)
    t = jnp.clip(target, b[0], b[-1])[..., None]
    gap = np.diff(b)
    rising = (t - b[:-1]) / gap
    falling = (b[1:] - t) / gap
    one = jnp.ones_like(t)
    up = jnp.concatenate([one, rising], -1)
    down = jnp.concatenate([falling, one], -1)
    return jnp.clip(jnp.minimum(up, down), 0.0, 1.0)


def cross_entropy(logits: Array, target: Array) -> Array:
    """Return the cross-entropy between the two-hot targets and softmax(logits), one value per target."""
    return -jnp.sum(weights(target, logits.shape[-1]) * jax.nn.log_softmax(logits, -1), -1)


def mean(logits: Array) -> Array:
    """Return the expected value; summed from the centre outwards in pairs, so uniform logits give exactly 0."""
    n = logits.shape[-1]
    middle = (n - 1) // 2
    parts = jax.nn.softmax(logits, -1) * bins(n)
    pairs = parts[..., :middle][..., ::-1] + parts[..., middle + 1 :]
    return parts[..., middle] + jnp.sum(pairs, -1)
