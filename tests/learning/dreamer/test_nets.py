"""Layers against hand-computed values."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from blindsave.learning.dreamer import nets


def test_initial_kernels_have_the_standard_deviation_of_their_fan_in():
    plain = nets.init_linear(jax.random.key(0), 400, 100)["kernel"]
    assert float(plain.std()) == pytest.approx(1 / np.sqrt(400), rel=0.02)
    assert float(jnp.abs(plain).max()) <= 2 * 1.1368 / np.sqrt(400)
    # The fan-in of a block map is its total input width, although a block reads only its own part.
    block = nets.init_block_linear(jax.random.key(0), 8, 800, 800)["kernel"]
    assert block.shape == (8, 100, 100)
    assert float(block.std()) == pytest.approx(1 / np.sqrt(800), rel=0.02)


def test_rms_norm_by_hand_and_in_low_precision():
    x = jnp.array([3.0, -4.0])
    np.testing.assert_allclose(
        nets.rms_norm(x, jnp.array([1.0, 2.0])), np.array([3, -8]) / np.sqrt(12.5 + 1e-4), rtol=1e-6
    )
    assert nets.rms_norm(x.astype(jnp.bfloat16), jnp.ones(2)).dtype == jnp.bfloat16


def test_block_products_equal_a_loop_over_blocks():
    kernel = jax.random.normal(jax.random.key(0), (3, 4, 5))
    x = jax.random.normal(jax.random.key(1), (7, 12))
    expected = np.concatenate([x[:, 4 * g : 4 * g + 4] @ kernel[g] for g in range(3)], -1)
    np.testing.assert_allclose(nets.grouped_matmul(x, kernel), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(x @ nets.block_diagonal(kernel), expected, rtol=1e-5, atol=1e-6)
