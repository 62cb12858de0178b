"""The operations of a step in JAX, for training where C does not serve."""

from typing import Any

import jax
import jax.numpy as jnp


class JaxOps:
    """The operations of the canonical arithmetic with JAX's own kernels: equal in meaning, not in every bit."""

    silu = staticmethod(jax.nn.silu)
    tanh = staticmethod(jnp.tanh)
    sigmoid = staticmethod(jax.nn.sigmoid)
    exp = staticmethod(jnp.exp)
    log = staticmethod(jnp.log)
    sqrt = staticmethod(jnp.sqrt)
    maximum = staticmethod(jnp.maximum)
    minimum = staticmethod(jnp.minimum)

    @staticmethod
    def linear(x: Any, weight: Any, start: Any = None) -> Any:
        """Affine map, start + W x, for one matrix or a stack of blocks."""
        if weight.ndim == 3:
            blocks = x.reshape(*x.shape[:-1], weight.shape[0], weight.shape[2])
            product = jnp.einsum("...gi,goi->...go", blocks, weight).reshape(*x.shape[:-1], -1)
        else:
            product = x @ weight.T
        return product if start is None else product + start

    @staticmethod
    def concat(*parts: Any) -> Any:
        """Join along the last axis; rows broadcast."""
        rows = jnp.broadcast_shapes(*(part.shape[:-1] for part in parts))
        return jnp.concatenate([jnp.broadcast_to(p, (*rows, p.shape[-1])) for p in parts], axis=-1)

    @staticmethod
    def symlog(x: Any) -> Any:
        """sign(x) * log(1 + |x|)."""
        return jnp.sign(x) * jnp.log1p(jnp.abs(x))

    @staticmethod
    def bound(x: Any) -> Any:
        """Bounded x / max(1, |x|)."""
        return x / jnp.maximum(1.0, jnp.abs(x))

    @staticmethod
    def rmsnorm(x: Any, scale: Any, eps: float) -> Any:
        """RMS normalisation with a learned scale."""
        return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + eps) * scale

    @staticmethod
    def onehot(x: Any, classes: int) -> Any:
        """One-hot of the largest of every `classes` neighbours."""
        groups = x.reshape(*x.shape[:-1], -1, classes)
        return jax.nn.one_hot(groups.argmax(-1), classes).reshape(x.shape)
