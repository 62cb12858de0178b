"""Symlog and two-hot predictions by hand."""

import jax.numpy as jnp
import numpy as np
import pytest

from blindsave.learning.dreamer import twohot


def test_symlog_and_its_inverse():
    x = jnp.array([-100.0, -1.0, 0.0, 0.5, np.e - 1])
    np.testing.assert_allclose(twohot.symlog(x), [-np.log(101), -np.log(2), 0, np.log(1.5), 1], rtol=1e-6)
    np.testing.assert_allclose(twohot.symexp(twohot.symlog(x)), x, rtol=1e-5)


def test_bins_are_symmetric_symexp_spaced_and_contain_zero():
    b = twohot.bins(255)
    assert len(b) == 255
    assert b[127] == 0
    np.testing.assert_array_equal(b, -b[::-1])
    np.testing.assert_allclose(b[-1], np.exp(20) - 1, rtol=1e-6)
    np.testing.assert_allclose(b[128], np.exp(20 / 127) - 1, rtol=1e-5)


def test_two_hot_splits_between_neighbours_in_raw_space():
    b = twohot.bins(255)
    target = 0.25 * b[130] + 0.75 * b[131]
    w = np.asarray(twohot.weights(jnp.array([target, 0.0, 1e12, -1e12, b[3]]), 255))
    np.testing.assert_allclose(w[0, 130:132], [0.25, 0.75], rtol=1e-4)
    np.testing.assert_allclose(w.sum(-1), 1, rtol=1e-6)
    assert w[1, 127] == 1
    assert w[2, 254] == 1
    assert w[3, 0] == 1
    assert w[4, 3] == 1
    assert (w[0] > 0).sum() == 2


def test_two_hot_loss_and_mean_by_hand():
    logits = jnp.log(jnp.array([0.1, 0.2, 0.4, 0.2, 0.1]))
    b = twohot.bins(5)
    target = 0.5 * b[3]
    assert float(twohot.cross_entropy(logits, target)) == pytest.approx(
        -0.5 * np.log(0.4) - 0.5 * np.log(0.2), rel=1e-5
    )
    skewed = jnp.log(jnp.array([1e-30, 1e-30, 0.25, 0.75, 1e-30]))
    assert float(twohot.mean(skewed)) == pytest.approx(0.75 * b[3], rel=1e-4)
    assert float(twohot.mean(jnp.full(255, 3.7))) == 0.0
