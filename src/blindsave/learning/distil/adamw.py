"""AdamW and gradient clipping, to the letter of PyTorch's formulas, on plain dicts of arrays."""

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp

from blindsave.learning.distil.state import Moments

Tree = Mapping[str, Any]
CLIP_EPSILON = 1e-6


def clip(gradients: Tree, limit: float) -> tuple[Tree, Any]:
    """Scale gradients so that their global norm is at most `limit`; also return the norm before."""
    norm = jnp.sqrt(sum(jnp.sum(g * g) for g in gradients.values()))
    scale = jnp.minimum(limit / (norm + CLIP_EPSILON), 1.0)
    return {name: g * scale for name, g in gradients.items()}, norm


def update(
    params: Tree,
    gradients: Tree,
    moments: Moments,
    *,
    learning_rate: float,
    weight_decay: float,
    betas: tuple[float, float] = (0.9, 0.999),
    epsilon: float = 1e-8,
) -> tuple[Tree, Moments]:
    """One step of AdamW; the weight decay is decoupled and acts on every parameter."""
    b1, b2 = betas
    count = moments.count + 1
    t = count.astype(jnp.float32)
    step_size, root = learning_rate / (1.0 - b1**t), jnp.sqrt(1.0 - b2**t)
    first = {n: b1 * moments.first[n] + (1.0 - b1) * g for n, g in gradients.items()}
    second = {n: b2 * moments.second[n] + (1.0 - b2) * g * g for n, g in gradients.items()}
    changed = {
        n: value * (1.0 - learning_rate * weight_decay) - step_size * first[n] / (jnp.sqrt(second[n]) / root + epsilon)
        for n, value in params.items()
    }
    return changed, Moments(first, second, count)
