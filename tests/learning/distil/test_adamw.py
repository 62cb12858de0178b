"""AdamW and clipping: PyTorch's formulas, in double precision by hand."""

import jax.numpy as jnp
import numpy as np
import pytest

from blindsave.learning.distil import adamw
from blindsave.learning.distil.state import Moments

RNG = np.random.default_rng(0)
START = {"w": RNG.normal(size=(3, 2)), "b": RNG.normal(size=4)}
SLOPES = [{name: RNG.normal(size=value.shape) for name, value in START.items()} for _ in range(5)]


def blank() -> Moments:
    zero = {name: jnp.zeros(value.shape) for name, value in START.items()}
    return Moments(zero, dict(zero), jnp.int32(0))


def test_five_steps_equal_the_written_formulas():
    params, moments = {name: jnp.float32(value) for name, value in START.items()}, blank()
    for slope in SLOPES:
        params, moments = adamw.update(params, slope, moments, learning_rate=0.01, weight_decay=0.1)
    for name, value in START.items():
        wanted, first, second = value.copy(), 0.0, 0.0
        for t, slope in enumerate(SLOPES, 1):
            wanted = wanted * (1 - 0.01 * 0.1)
            first, second = 0.9 * first + 0.1 * slope[name], 0.999 * second + 0.001 * slope[name] ** 2
            wanted = wanted - 0.01 * (first / (1 - 0.9**t)) / (np.sqrt(second / (1 - 0.999**t)) + 1e-8)
        np.testing.assert_allclose(params[name], wanted, rtol=2e-5)
    assert int(moments.count) == 5


def test_the_first_step_has_the_size_of_the_learning_rate_whatever_the_gradient():
    for scale in (1e-4, 1e4):
        slope = {name: scale * value for name, value in SLOPES[0].items()}
        moved, _ = adamw.update(START, slope, blank(), learning_rate=0.01, weight_decay=0.0)
        np.testing.assert_allclose(START["w"] - moved["w"], 0.01 * np.sign(slope["w"]), rtol=1e-2)


def test_decay_acts_without_a_gradient():
    nothing = {name: np.zeros_like(value) for name, value in START.items()}
    moved, _ = adamw.update(START, nothing, blank(), learning_rate=0.5, weight_decay=0.2)
    np.testing.assert_allclose(moved["b"], START["b"] * 0.9, rtol=1e-6)


def test_gradients_are_clipped_together_by_their_common_norm():
    gradients = {"w": np.array([3.0, 0.0]), "b": np.array([[0.0], [4.0]])}
    clipped, norm = adamw.clip(gradients, 1.0)
    assert float(norm) == pytest.approx(5.0)
    np.testing.assert_allclose(clipped["w"], [0.6, 0.0], rtol=1e-5)
    np.testing.assert_allclose(clipped["b"], [[0.0], [0.8]], rtol=1e-5)


def test_small_gradients_pass_unchanged_and_none_stay_none():
    small = {"w": np.float32([0.3, -0.4])}
    clipped, norm = adamw.clip(small, 1.0)
    np.testing.assert_array_equal(clipped["w"], small["w"])
    assert float(norm) == pytest.approx(0.5)
    nothing, norm = adamw.clip({"w": np.zeros(2, np.float32)}, 1.0)
    assert float(norm) == 0.0 and not np.asarray(nothing["w"]).any()
