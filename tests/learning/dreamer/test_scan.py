"""The posterior scan: the deferred gradient is the plain one, and resets begin anew."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from dreamer_cases import SMALL, random_params

from blindsave.learning.dreamer import recurrent, scan
from blindsave.learning.dreamer.scan import Fixed, How, Inputs

pytestmark = pytest.mark.usefixtures("quick_compilation")

T, B = 4, 3
HOW = How(SMALL, "grouped", 0.01, 1)
M = recurrent.prepare(jax.tree.map(jnp.asarray, random_params(SMALL, 1))["dynamics"], SMALL, "grouped")
RNG = np.random.default_rng(0)
ACTIONS = jnp.asarray(RNG.normal(size=(T, B, SMALL.action)), jnp.float32)
TOKENS = jnp.asarray(RNG.normal(size=(T, B, SMALL.units)), jnp.float32)
FIRST = jnp.zeros((T, B), bool).at[2, 1].set(True)
FIXED = Fixed(
    jnp.asarray(np.tanh(RNG.normal(size=(B, SMALL.deter))), jnp.float32),
    jnp.tile(jnp.eye(SMALL.classes)[0], (B, SMALL.categoricals)),
    FIRST,
    jnp.asarray(RNG.random((T, B, SMALL.categoricals)), jnp.float32),
)


def inputs(m) -> Inputs:
    return Inputs(recurrent.embed_action(m, ACTIONS), recurrent.embed_token(m, TOKENS))


def slope(way):
    def total(m):
        states = way(HOW, m, inputs(m), FIXED)
        return sum(jnp.sum(jnp.sin(x)) for x in states)

    return jax.jit(jax.value_and_grad(total))(M)


def test_the_deferred_gradient_is_the_plain_one():
    (one, plain), (other, deferred) = slope(scan.plain), slope(scan.deferred)
    assert float(one) == pytest.approx(float(other), rel=1e-6)
    for path, wanted in jax.tree_util.tree_leaves_with_path(plain):
        found = deferred
        for key in path:
            found = found[key.key]
        np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-4, err_msg=str(path))
    assert any(np.abs(np.asarray(leaf)).max() > 0 for leaf in jax.tree.leaves(plain))


def test_a_reset_begins_anew_in_its_own_row_only():
    run = jax.jit(lambda fixed: scan.plain(HOW, M, inputs(M), fixed))
    whole, other = run(FIXED), run(FIXED._replace(h=-FIXED.h))
    np.testing.assert_array_equal(whole.h[2:, 1], other.h[2:, 1])
    assert not np.allclose(whole.h[2:, 0], other.h[2:, 0])
    assert not np.allclose(whole.h[:2, 1], other.h[:2, 1])


def test_without_draws_the_latent_is_the_most_probable_class():
    states = jax.jit(lambda: scan.plain(HOW, M, inputs(M), FIXED._replace(uniform=None)))()
    shape = (T, B, SMALL.categoricals, SMALL.classes)
    np.testing.assert_array_equal(
        np.asarray(states.z).reshape(shape).argmax(-1), np.asarray(states.logits).reshape(shape).argmax(-1)
    )
