"""Losses of actor and critic: their weights, their signs, and what they must not touch."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from dreamer_cases import SMALL, random_params

from blindsave.learning.dreamer import heads, twohot
from blindsave.learning.dreamer.behaviour import critic_loss, imagined_losses, replay_loss
from blindsave.learning.dreamer.config import Learning
from blindsave.learning.dreamer.imagination import Rollout
from blindsave.learning.dreamer.returns import Spread, return_scale
from blindsave.learning.dreamer.world import Batch

pytestmark = pytest.mark.usefixtures("quick_compilation")

LEARNING = Learning()
PARAMS = jax.tree.map(jnp.asarray, random_params(SMALL, 2))
SLOW = jax.tree.map(jnp.asarray, random_params(SMALL, 3))["critic"]
ROLLOUT = Rollout(
    jax.random.normal(jax.random.key(0), (4, 3, SMALL.feature)),
    jax.random.normal(jax.random.key(1), (3, 3, SMALL.action)),
)


@pytest.fixture(scope="module")
def found():
    spread = Spread(jnp.float32(-1), jnp.float32(1))
    return jax.jit(lambda: imagined_losses(PARAMS, SLOW, ROLLOUT, spread, LEARNING))()


def test_the_critic_is_pulled_to_the_return_and_to_the_slow_critic():
    logits = jnp.zeros((2, SMALL.bins))
    target, slow = jnp.array([0.0, 2.0]), jnp.array([1.0, -1.0])
    expected = twohot.cross_entropy(logits, target) + twohot.cross_entropy(logits, slow)
    np.testing.assert_allclose(critic_loss(logits, target, slow, LEARNING), expected, rtol=1e-6)
    alone = critic_loss(logits, target, slow, Learning(slow_regression=0.0))
    np.testing.assert_allclose(alone, twohot.cross_entropy(logits, target), rtol=1e-6)


def test_steps_count_by_the_probability_of_being_reached(found):
    losses, target, spread, log = found
    weight = np.cumprod(np.asarray(log["imagined_continue"]), 0)[:-1]
    value = np.asarray(log["imagined_value"])[:-1]
    advantage = (np.asarray(target) - value) / float(return_scale(spread, LEARNING))
    policy = heads.act(PARAMS["actor"], ROLLOUT.feature[:-1])
    score = advantage * policy.log_density(ROLLOUT.action) + LEARNING.entropy * policy.entropy()
    np.testing.assert_allclose(losses["actor"], -weight * score, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(log["advantage_size"], np.abs(advantage), rtol=1e-4, atol=1e-6)


def test_the_actors_loss_teaches_the_actor_alone_and_the_critics_the_critic():
    def total(params, name):
        return imagined_losses(params, SLOW, ROLLOUT, Spread.zero(), LEARNING)[0][name].sum()

    for name in ("actor", "critic"):
        slope = jax.jit(jax.grad(lambda p, name=name: total(p, name)))(PARAMS)
        taught = {part for part, tree in slope.items() if any(np.asarray(x).any() for x in jax.tree.leaves(tree))}
        assert taught == {name}


def test_replayed_ends_carry_no_loss():
    last = jnp.zeros((4, 3), bool).at[1, 0].set(True)
    blank = jnp.zeros((4, 3))
    batch = Batch(blank, blank, blank, last, last, last, blank, blank)
    loss = jax.jit(lambda: replay_loss(PARAMS, SLOW, ROLLOUT.feature, batch, blank, LEARNING))()
    assert loss.shape == (3, 3) and float(loss[1, 0]) == 0.0
    assert (np.delete(np.asarray(loss).ravel(), 3) > 0).all()
