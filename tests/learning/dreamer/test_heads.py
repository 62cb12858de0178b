"""Heads: where they start, and the actor's distribution by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from blindsave.learning.dreamer import heads, twohot
from blindsave.learning.dreamer.config import Sizes


def test_heads_start_where_they_should():
    s = Sizes(19, 2)
    p = jax.jit(heads.init, static_argnums=1)(jax.random.key(1), s)
    feat = jax.random.normal(jax.random.key(2), (5, s.feature))
    assert (twohot.mean(heads.output(p["critic"], feat)) == 0).all()
    assert (twohot.mean(heads.output(p["reward"], feat)) == 0).all()
    policy = heads.act(p["actor"], feat)
    np.testing.assert_allclose(policy.mean, 0, atol=0.05)
    np.testing.assert_allclose(policy.std, 0.893, atol=0.01)


def test_normal_density_and_entropy_by_hand():
    policy = heads.Normal(jnp.array([0.5, -0.5]), jnp.array([0.2, 1.0]))
    x = np.array([0.7, 2.0])
    expected = sum(
        -0.5 * ((a - m) / s) ** 2 - np.log(s * np.sqrt(2 * np.pi))
        for a, m, s in zip(x, (0.5, -0.5), (0.2, 1.0), strict=True)
    )
    assert float(policy.log_density(jnp.asarray(x))) == pytest.approx(expected, rel=1e-5)
    assert float(policy.entropy()) == pytest.approx(np.log(0.2) + np.log(2 * np.pi * np.e), rel=1e-5)
    np.testing.assert_allclose(policy.sample(jnp.array([1.0, -2.0])), [0.7, -2.5], rtol=1e-6)
