"""The building blocks of every network: linear maps, RMS norm, layers, block-diagonal maps.

Parameters are plain dictionaries of float32 arrays. A `linear` is {kernel, bias}; a `layer` adds the norm's
{scale} and computes SiLU(RMSNorm(linear(x))).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

Params = dict[str, Any]

NORM_EPSILON = 1e-4
# A standard normal cut at two standard deviations has standard deviation 0.8796; this restores 1.
TRUNCATED_NORMAL_CORRECTION = 1.1368


def init_kernel(key: Array, shape: Sequence[int], fan_in: int, scale: float = 1.0) -> Array:
    """Draw a kernel of standard deviation about `scale / sqrt(fan_in)` from a truncated normal."""
    draw = jax.random.truncated_normal(key, -2.0, 2.0, shape, jnp.float32)
    return draw * (TRUNCATED_NORMAL_CORRECTION * scale / fan_in**0.5)


def init_linear(key: Array, n_in: int, n_out: int, scale: float = 1.0) -> Params:
    """Create a linear map; `scale` 0 makes its output constant zero at the start."""
    return {"kernel": init_kernel(key, (n_in, n_out), n_in, scale), "bias": jnp.zeros(n_out)}


def init_layer(key: Array, n_in: int, n_out: int) -> Params:
    """Create a layer: linear map, RMS norm, SiLU."""
    return init_linear(key, n_in, n_out) | {"scale": jnp.ones(n_out)}


def init_block_linear(key: Array, blocks: int, n_in: int, n_out: int) -> Params:
    """Create a map of `blocks` independent parts; `n_in` and `n_out` are totals.

    The fan-in of the initialisation is the total input width, so the kernels start smaller than a rule per
    block would give.
    """
    shape = (blocks, n_in // blocks, n_out // blocks)
    return {"kernel": init_kernel(key, shape, n_in), "bias": jnp.zeros(n_out)}


def init_mlp(key: Array, n_in: int, units: int, layers: int) -> Params:
    """Create `layers` layers of equal width, named layer0, layer1, ..."""
    keys = jax.random.split(key, layers)
    return {f"layer{i}": init_layer(keys[i], n_in if i == 0 else units, units) for i in range(layers)}


def linear(p: Params, x: Array) -> Array:
    """Apply a linear map in the dtype of its kernel."""
    return jnp.dot(x, p["kernel"]) + p["bias"]


def rms_norm(x: Array, scale: Array) -> Array:
    """Divide by the root mean square over the last axis, in float32, and scale; keeps the dtype of `x`."""
    y = x.astype(jnp.float32)
    y = y * jax.lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + NORM_EPSILON)
    return (y * scale).astype(x.dtype)


def layer(p: Params, x: Array) -> Array:
    """Apply linear map, RMS norm and SiLU."""
    return jax.nn.silu(rms_norm(linear(p, x), p["scale"]))


def mlp(p: Params, x: Array) -> Array:
    """Apply every `layerN` of `p` in order."""
    for i in range(sum(name.startswith("layer") for name in p)):
        x = layer(p[f"layer{i}"], x)
    return x


def grouped_matmul(x: Array, kernel: Array) -> Array:
    """Multiply [n, blocks * in] by [blocks, in, out] block by block, with the block axis in front."""
    blocks, n_in, n_out = kernel.shape
    parts = jnp.swapaxes(x.reshape(-1, blocks, n_in), 0, 1)
    product = jnp.matmul(parts, kernel)
    return jnp.swapaxes(product, 0, 1).reshape(*x.shape[:-1], blocks * n_out)


def block_diagonal(kernel: Array) -> Array:
    """Write [blocks, in, out] as one matrix [blocks * in, blocks * out] with zeros off the diagonal."""
    blocks, n_in, n_out = kernel.shape
    eye = jnp.eye(blocks, dtype=kernel.dtype)
    return jnp.einsum("gio,gk->giko", kernel, eye).reshape(blocks * n_in, blocks * n_out)


def cast_for_compute(params: Params, dtype: jnp.dtype) -> Params:
    """Cast kernels and biases to the compute dtype; norm scales stay float32."""

    def cast(path: tuple[Any, ...], leaf: Array) -> Array:
        return leaf if path[-1].key == "scale" else leaf.astype(dtype)

    return jax.tree_util.tree_map_with_path(cast, params)


def count(params: Params) -> int:
    """Count the numbers in a parameter tree."""
    return sum(leaf.size for leaf in jax.tree.leaves(params))
