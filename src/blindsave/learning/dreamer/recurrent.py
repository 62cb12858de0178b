"""The recurrent step of the world model (block GRU), laid out so that one step is few, large products.

The step touches parameters in eight named places (`operations`). Writing it over a function `site(name, x)`
lets the same step run in three ways: plainly, inside imagination, and inside a scan whose weight gradients are
collected afterwards (`scan.py`).
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import Array

from blindsave.learning.dreamer.config import Sizes
from blindsave.learning.dreamer.nets import (
    Params,
    block_diagonal,
    grouped_matmul,
    init_block_linear,
    init_layer,
    init_linear,
    init_mlp,
    layer,
    linear,
    mlp,
    rms_norm,
)

Site = Callable[[str, Array], Array]


def init(key: Array, s: Sizes) -> Params:
    """Create the dynamics: sequence model, prior and posterior."""
    keys = jax.random.split(key, 9)
    block_input = s.deter + 3 * s.hidden * s.blocks
    return {
        "deter_in": init_layer(keys[0], s.deter, s.hidden),
        "latent_in": init_layer(keys[1], s.latent, s.hidden),
        "action_in": init_layer(keys[2], s.action, s.hidden),
        "hidden": init_block_linear(keys[3], s.blocks, block_input, s.deter) | {"scale": jnp.ones(s.deter)},
        "gates": init_block_linear(keys[4], s.blocks, s.deter, 3 * s.deter),
        "prior": init_mlp(keys[5], s.deter, s.hidden, s.prior_layers)
        | {"out": init_linear(keys[6], s.hidden, s.latent)},
        "posterior": {
            "layer0": init_layer(keys[7], s.deter + s.units, s.hidden),
            "out": init_linear(keys[8], s.hidden, s.latent),
        },
    }


def prepare(p: Params, s: Sizes, layout: str) -> Params:
    """Rearrange the dynamics' parameters into the matrices that one step multiplies by.

    Every block reads [its own part of h, x0, x1, x2], where x0, x1, x2 (embedded h, z, action) are shared by
    all blocks: their part of the block kernel is one ordinary matrix. Gate columns, stored per block as (reset,
    candidate, update), are brought into the order (reset, candidate, update) of all units.
    """
    own = p["hidden"]["kernel"][:, : s.block]
    shared = jnp.moveaxis(p["hidden"]["kernel"][:, s.block :], 0, 1).reshape(3 * s.hidden, s.deter)
    m = {
        "mix_bias": jnp.concatenate([p["deter_in"]["bias"], p["latent_in"]["bias"], p["hidden"]["bias"]]),
        "mix_scale": jnp.stack([p["deter_in"]["scale"], p["latent_in"]["scale"]]),
        "shared": shared[: 2 * s.hidden],
        "action_shared": shared[2 * s.hidden :],
        "hidden_scale": p["hidden"]["scale"],
        "gates_bias": jnp.swapaxes(p["gates"]["bias"].reshape(s.blocks, 3, s.block), 0, 1).reshape(3, s.deter),
        "posterior_h": p["posterior"]["layer0"]["kernel"][: s.deter],
        "posterior_token": p["posterior"]["layer0"]["kernel"][s.deter :],
        "posterior_bias": p["posterior"]["layer0"]["bias"],
        "posterior_scale": p["posterior"]["layer0"]["scale"],
        "posterior_out": p["posterior"]["out"],
        "action_in": p["action_in"],
    }
    if layout == "grouped":
        m["deter_in"] = p["deter_in"]["kernel"]
        m["latent_in"] = p["latent_in"]["kernel"]
        m["own"] = own
        m["gates"] = p["gates"]["kernel"]
        return m
    zero = jnp.zeros
    dtype = own.dtype
    from_h = [p["deter_in"]["kernel"], zero((s.deter, s.hidden), dtype), block_diagonal(own)]
    from_z = [zero((s.latent, s.hidden), dtype), p["latent_in"]["kernel"], zero((s.latent, s.deter), dtype)]
    m["mix"] = jnp.concatenate([jnp.concatenate(from_h, 1), jnp.concatenate(from_z, 1)], 0)
    gates = block_diagonal(p["gates"]["kernel"]).reshape(s.deter, s.blocks, 3, s.block)
    m["gates"] = jnp.swapaxes(gates, 1, 2).reshape(s.deter, 3 * s.deter)
    return m


def operations(s: Sizes, layout: str) -> dict[str, Callable[[Params, Array], Array]]:
    """Return the eight places where one step meets parameters, each a function of (matrices, input)."""

    def mix(m: Params, hz: Array) -> Array:
        if layout == "dense":
            return jnp.dot(hz, m["mix"]) + m["mix_bias"]
        h, z = hz[..., : s.deter], hz[..., s.deter :]
        parts = [jnp.dot(h, m["deter_in"]), jnp.dot(z, m["latent_in"]), grouped_matmul(h, m["own"])]
        return jnp.concatenate(parts, -1) + m["mix_bias"]

    def mix_norm(m: Params, x: Array) -> Array:
        pair = x.reshape(*x.shape[:-1], 2, s.hidden)
        return rms_norm(pair, m["mix_scale"]).reshape(x.shape)

    def gates(m: Params, u: Array) -> Array:
        if layout == "dense":
            flat = jnp.dot(u, m["gates"])
            return flat.reshape(*u.shape[:-1], 3, s.deter) + m["gates_bias"]
        blocks = grouped_matmul(u, m["gates"]).reshape(*u.shape[:-1], s.blocks, 3, s.block)
        return jnp.swapaxes(blocks, -3, -2).reshape(*u.shape[:-1], 3, s.deter) + m["gates_bias"]

    return {
        "mix": mix,
        "mix_norm": mix_norm,
        "shared": lambda m, x: jnp.dot(x, m["shared"]),
        "hidden_norm": lambda m, x: rms_norm(x, m["hidden_scale"]),
        "gates": gates,
        "posterior_h": lambda m, h: jnp.dot(h, m["posterior_h"]),
        "posterior_norm": lambda m, x: rms_norm(x, m["posterior_scale"]),
        "posterior_out": lambda m, x: linear(m["posterior_out"], x),
    }


def plain_site(m: Params, s: Sizes, layout: str) -> Site:
    """Return a `site` that simply applies the named operation."""
    ops = operations(s, layout)
    return lambda name, x: ops[name](m, x)


def embed_action(m: Params, action: Array) -> Array:
    """Return the action's contribution to the hidden layer; it needs no recurrent state, so it can run ahead.

    Actions beyond [-1, 1] are scaled back onto the interval; the denominator carries no gradient.
    """
    limit = jnp.maximum(1.0, jnp.abs(action))
    squashed = (action / jax.lax.stop_gradient(limit)).astype(m["action_shared"].dtype)
    return jnp.dot(layer(m["action_in"], squashed), m["action_shared"])


def embed_token(m: Params, token: Array) -> Array:
    """Return the token's contribution to the posterior's first layer, bias included; it can run ahead too."""
    return jnp.dot(token, m["posterior_token"]) + m["posterior_bias"]


def advance(site: Site, s: Sizes, h: Array, z: Array, action_part: Array) -> Array:
    """Run the block GRU once: (h, z, embedded action) to the next h."""
    mixed = site("mix", jnp.concatenate([h, z], -1))
    x = jax.nn.silu(site("mix_norm", mixed[..., : 2 * s.hidden]))
    hidden = mixed[..., 2 * s.hidden :] + site("shared", x) + action_part
    gates = site("gates", jax.nn.silu(site("hidden_norm", hidden)))
    reset, candidate, update = gates[..., 0, :], gates[..., 1, :], gates[..., 2, :]
    candidate = jnp.tanh(jax.nn.sigmoid(reset) * candidate)
    keep_new = jax.nn.sigmoid(update - 1)
    return keep_new * candidate + (1 - keep_new) * h


def posterior(site: Site, h: Array, token_part: Array) -> Array:
    """Return the posterior logits given the new h and the embedded token."""
    x = jax.nn.silu(site("posterior_norm", site("posterior_h", h) + token_part))
    return site("posterior_out", x)


def prior(p: Params, h: Array) -> Array:
    """Return the prior logits given h (`p` is the dynamics' `prior` part)."""
    return linear(p["out"], mlp(p, h))
