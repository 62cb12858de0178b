"""The discrete latent: a vector of categoricals with a little uniform noise mixed in.

Logits come flat, [..., categoricals * classes]; samples are one-hot and flat as well. There are few classes, so
softmax and sampling are written as chains over the class axis: element-wise work that a compiler fuses into
one kernel, where reductions over four values would each cost a launch.
"""

from __future__ import annotations

from functools import reduce

import jax
import jax.numpy as jnp
from jax import Array


def split_classes(flat: Array, classes: int) -> list[Array]:
    """Return one array [..., categoricals] per class."""
    shaped = flat.reshape(*flat.shape[:-1], -1, classes)
    return [shaped[..., k] for k in range(classes)]


def join_classes(parts: list[Array]) -> Array:
    """Invert `split_classes`."""
    stacked = jnp.stack(parts, -1)
    return stacked.reshape(*stacked.shape[:-2], -1)


def probabilities(logits: Array, classes: int, unimix: float) -> list[Array]:
    """Return the class probabilities (1 - unimix) softmax + unimix / classes, in float32, one array per class."""
    parts = split_classes(logits.astype(jnp.float32), classes)
    top = jax.lax.stop_gradient(reduce(jnp.maximum, parts))
    exps = [jnp.exp(part - top) for part in parts]
    total = reduce(jnp.add, exps)
    return [(1.0 - unimix) * (e / total) + unimix / classes for e in exps]


def choose(probs: list[Array], uniform: Array) -> Array:
    """Pick a class index per categorical from one uniform number each, by inverse distribution function."""
    index = jnp.zeros(uniform.shape, jnp.int32)
    below = jnp.zeros_like(uniform)
    for p in probs[:-1]:
        below = below + p
        index = index + (uniform >= below).astype(jnp.int32)
    return index


def sample(logits: Array, classes: int, unimix: float, uniform: Array | None) -> Array:
    """Draw a flat one-hot latent in float32; its gradient is that of the probabilities (straight-through).

    `uniform` holds one number in [0, 1) per categorical; `None` takes the mode.
    """
    probs = probabilities(logits, classes, unimix)
    mode = jnp.argmax(logits.reshape(*logits.shape[:-1], -1, classes), -1)
    index = mode if uniform is None else choose(probs, uniform)
    hard = [(index == k).astype(jnp.float32) for k in range(classes)]
    return join_classes([h + (p - jax.lax.stop_gradient(p)) for h, p in zip(hard, probs, strict=True)])


def one_hot(index: Array, classes: int, dtype: jnp.dtype) -> Array:
    """Expand class indices [..., categoricals] to a flat one-hot latent."""
    return join_classes([(index == k).astype(dtype) for k in range(classes)])


def to_index(latent: Array, classes: int) -> Array:
    """Return the class indices (uint8) of a flat one-hot latent."""
    parts = split_classes(latent, classes)
    return reduce(jnp.add, [jnp.round(part) * k for k, part in enumerate(parts)]).astype(jnp.uint8)


def kl(p_logits: Array, q_logits: Array, classes: int, unimix: float) -> Array:
    """Return KL(p || q) summed over the categoricals."""
    p = probabilities(p_logits, classes, unimix)
    q = probabilities(q_logits, classes, unimix)
    terms = [pk * (jnp.log(pk) - jnp.log(qk)) for pk, qk in zip(p, q, strict=True)]
    return jnp.sum(reduce(jnp.add, terms), -1)


def entropy(logits: Array, classes: int, unimix: float) -> Array:
    """Return the entropy summed over the categoricals."""
    terms = [-p * jnp.log(p) for p in probabilities(logits, classes, unimix)]
    return jnp.sum(reduce(jnp.add, terms), -1)
