"""The posterior scan over a window, and its gradient with all weight gradients collected after the loop.

A plain reverse scan adds to every weight gradient at every step: many small products in the one place that
cannot be parallel. But a weight gradient is a sum over time of (input, output gradient) pairs, so it can wait:
the backward scan returns the output gradients of every parameterised place, and one large product per place
finishes the job. `plain` (ordinary autodiff) is the oracle of `deferred`.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from blindsave.learning.dreamer import latents
from blindsave.learning.dreamer.config import Sizes
from blindsave.learning.dreamer.nets import Params
from blindsave.learning.dreamer.recurrent import Site, advance, operations, plain_site, posterior


class How(NamedTuple):
    """Static choices of the scan."""

    sizes: Sizes
    layout: str
    unimix: float
    unroll: int


class Inputs(NamedTuple):
    """Time-major inputs that depend on parameters: embedded actions and tokens."""

    action: Array
    token: Array


class Fixed(NamedTuple):
    """Inputs without gradient: start state, resets [T, B] and one uniform number per categorical (or None)."""

    h: Array
    z: Array
    first: Array
    uniform: Array | None


class States(NamedTuple):
    """Time-major results: recurrent states, straight-through one-hot latents, posterior logits."""

    h: Array
    z: Array
    logits: Array


def step(how: How, site: Site, state: tuple[Array, Array], x: tuple) -> tuple[tuple[Array, Array], States]:
    """Advance by one observed transition; `first` starts from zeros."""
    action, token, first, uniform = x
    blank = first[:, None]
    h, z = (jnp.where(blank, jnp.zeros_like(a), a) for a in state)
    h = advance(site, how.sizes, h, z, action)
    logits = posterior(site, h, token).astype(jnp.float32)
    z = latents.sample(logits, how.sizes.classes, how.unimix, uniform).astype(h.dtype)
    return (h, z), States(h, z, logits)


def plain(how: How, m: Params, inputs: Inputs, fixed: Fixed) -> States:
    """Scan with ordinary differentiation."""
    site = plain_site(m, how.sizes, how.layout)
    xs = (inputs.action, inputs.token, fixed.first, fixed.uniform)
    return jax.lax.scan(partial(step, how, site), (fixed.h, fixed.z), xs, unroll=how.unroll)[1]


@jax.custom_vjp
def _tap(y: Array, probe: Array) -> Array:
    return y


# The forward pass ignores the probe; the backward pass gives it the gradient that arrives at y.
_tap.defvjp(lambda y, probe: (y, None), lambda _, dy: (dy, dy))


def _probed_scan(how: How, m: Params, inputs: Inputs, fixed: Fixed, probes: Params) -> tuple[States, Params]:
    ops = operations(how.sizes, how.layout)

    def body(state, x):
        *ordinary, probe = x
        record: Params = {}

        def site(name: str, value: Array) -> Array:
            record[name] = jax.lax.stop_gradient(value)
            return _tap(ops[name](m, value), probe[name])

        state, out = step(how, site, state, tuple(ordinary))
        return state, (out, record)

    xs = (inputs.action, inputs.token, fixed.first, fixed.uniform, probes)
    return jax.lax.scan(body, (fixed.h, fixed.z), xs, unroll=how.unroll)[1]


def _probe_shapes(how: How, m: Params, inputs: Inputs, fixed: Fixed) -> Params:
    """Return zeros in the shape of each place's outputs over the whole scan."""
    shapes: Params = {}
    ops = operations(how.sizes, how.layout)

    def site(name: str, value: Array) -> Array:
        out = ops[name](m, value)
        shapes[name] = jax.ShapeDtypeStruct(out.shape, out.dtype)
        return out

    x = jax.tree.map(lambda a: a[0], (inputs.action, inputs.token, fixed.first, fixed.uniform))
    jax.eval_shape(lambda: step(how, site, (fixed.h, fixed.z), x))
    length = fixed.first.shape[0]
    return {name: jnp.zeros((length, *v.shape), v.dtype) for name, v in shapes.items()}


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def deferred(how: How, m: Params, inputs: Inputs, fixed: Fixed) -> States:
    """Scan like `plain`; the gradient is the same sum, taken in another order."""
    return plain(how, m, inputs, fixed)


def _deferred_forward(how: How, m: Params, inputs: Inputs, fixed: Fixed):
    probes = _probe_shapes(how, m, inputs, fixed)

    def run(inputs: Inputs, probes: Params):
        return _probed_scan(how, m, inputs, fixed, probes)

    states, pull, records = jax.vjp(run, inputs, probes, has_aux=True)
    return states, (pull, m, records)


def _deferred_backward(how: How, residuals, gradient: States):
    pull, m, records = residuals
    d_inputs, d_probes = pull(gradient)
    ops = operations(how.sizes, how.layout)
    _, collect = jax.vjp(lambda m: {name: ops[name](m, x) for name, x in records.items()}, m)
    (d_m,) = collect(d_probes)
    return d_m, d_inputs, None


deferred.defvjp(_deferred_forward, _deferred_backward)
