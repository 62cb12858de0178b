"""Categorical latents by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from blindsave.learning.dreamer import latents


def test_latent_probabilities_mix_in_one_percent_uniform():
    logits = jnp.array([0.0, 0.0, 0.0, 50.0, np.log(1.0), np.log(2.0), np.log(3.0), np.log(4.0)])
    p = np.stack(latents.probabilities(logits, 4, 0.01), -1)
    np.testing.assert_allclose(p[0], [0.0025, 0.0025, 0.0025, 0.9925], rtol=1e-5)
    np.testing.assert_allclose(p[1], 0.99 * np.array([0.1, 0.2, 0.3, 0.4]) + 0.0025, rtol=1e-5)


def test_latent_samples_follow_the_probabilities_and_the_mode_is_the_largest_logit():
    logits = jnp.log(jnp.array([0.1, 0.2, 0.3, 0.4]))
    n = 20_000
    uniform = jax.random.uniform(jax.random.key(0), (n, 1))
    z = latents.sample(jnp.tile(logits, (n, 1)), 4, 0.01, uniform)
    assert (z.sum(-1) == 1).all()
    np.testing.assert_allclose(z.mean(0), 0.99 * np.array([0.1, 0.2, 0.3, 0.4]) + 0.0025, atol=0.01)
    np.testing.assert_array_equal(latents.sample(logits, 4, 0.01, None), [0, 0, 0, 1])
    index = latents.to_index(z, 4)
    np.testing.assert_array_equal(latents.one_hot(index, 4, jnp.float32), z)


def test_latent_gradient_is_that_of_the_probabilities():
    logits = jnp.array([0.3, -0.2, 0.1, 0.5])
    weight = jnp.array([1.0, 2.0, -1.0, 0.5])
    through = jax.grad(lambda x: jnp.sum(weight * latents.sample(x, 4, 0.01, jnp.array([0.4]))))(logits)
    direct = jax.grad(lambda x: jnp.sum(weight * (0.99 * jax.nn.softmax(x) + 0.0025)))(logits)
    np.testing.assert_allclose(through, direct, rtol=1e-5)


def test_kl_is_summed_over_the_categoricals():
    p_logits, q_logits = jnp.log(jnp.array([0.5, 0.5, 0.9, 0.1])), jnp.log(jnp.array([0.5, 0.5, 0.2, 0.8]))
    p, q = 0.99 * 0.9 + 0.005, 0.99 * 0.2 + 0.005
    expected = p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))
    assert float(latents.kl(p_logits, q_logits, 2, 0.01)) == pytest.approx(expected, rel=1e-5)
    entropy = np.log(2) - p * np.log(p) - (1 - p) * np.log(1 - p)
    assert float(latents.entropy(p_logits, 2, 0.01)) == pytest.approx(entropy, rel=1e-5)
