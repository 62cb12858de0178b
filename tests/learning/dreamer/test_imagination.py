"""Imagined rollouts: their shape, their start, their own actions, and no gradient."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from dreamer_cases import SMALL, random_params

from blindsave.learning.dreamer import heads, recurrent
from blindsave.learning.dreamer.config import Config, Learning
from blindsave.learning.dreamer.imagination import imagine

pytestmark = pytest.mark.usefixtures("quick_compilation")

CONFIG = Config(SMALL, Learning(imagination=4))
PARAMS = jax.tree.map(jnp.asarray, random_params(SMALL, 2))
H = jnp.tanh(jax.random.normal(jax.random.key(0), (5, SMALL.deter)))
Z = jnp.tile(jnp.eye(SMALL.classes)[1], (5, SMALL.categoricals))


def dream(params=PARAMS, key=1, config=CONFIG):
    m = recurrent.prepare(params["dynamics"], SMALL, config.speed.layout)
    return imagine(params, m, H, Z, jax.random.key(key), config)


@pytest.fixture(scope="module")
def rollout():
    return jax.jit(dream)()


def test_a_rollout_of_h_steps_has_h_actions_and_one_more_feature(rollout):
    assert rollout.action.shape == (4, 5, SMALL.action)
    assert rollout.feature.shape == (5, 5, SMALL.feature)


def test_it_begins_where_it_was_told_and_latents_stay_one_hot(rollout):
    np.testing.assert_array_equal(rollout.feature[0], heads.feature(H, Z))
    z = np.asarray(rollout.feature[:, :, SMALL.deter :]).reshape(5, 5, SMALL.categoricals, SMALL.classes)
    np.testing.assert_array_equal(z.sum(-1), 1.0)
    assert set(np.unique(z)) == {0.0, 1.0}


def test_its_actions_are_the_actors_samples(rollout):
    noise = jax.random.normal(jax.random.split(jax.random.key(1))[0], (4, 5, SMALL.action))
    expected = heads.act(PARAMS["actor"], rollout.feature[:-1]).sample(noise)
    np.testing.assert_allclose(rollout.action, expected, rtol=1e-5, atol=1e-6)


def test_the_key_decides_and_the_layout_does_not(rollout):
    grouped = dataclasses.replace(CONFIG, speed=dataclasses.replace(CONFIG.speed, layout="dense", imagination_unroll=2))
    np.testing.assert_allclose(jax.jit(lambda: dream(config=grouped))().action, rollout.action, rtol=1e-3, atol=1e-4)
    assert not np.array_equal(jax.jit(lambda: dream(key=2))().action, rollout.action)


def test_no_gradient_passes_through_a_dream():
    slope = jax.jit(jax.grad(lambda p: dream(p).feature.sum() + dream(p).action.sum()))(PARAMS)
    assert not any(np.asarray(leaf).any() for leaf in jax.tree.leaves(slope))
