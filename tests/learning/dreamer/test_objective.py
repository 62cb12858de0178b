"""The whole objective and a whole update, against the oracle written from the formulas."""

import dataclasses

import dreamer_oracle as oracle
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from dreamer_cases import SMALL, random_params

from blindsave.learning.dreamer import optimizer, returns, update
from blindsave.learning.dreamer.config import Config, Learning, Speed
from blindsave.learning.dreamer.world import Batch

CONFIG = Config(SMALL, Learning(batch=3, length=5, imagination=3))


f32 = np.float32

pytestmark = pytest.mark.usefixtures("quick_compilation")


@pytest.fixture(scope="module")
def case():
    params = random_params(SMALL, 3)
    slow = random_params(SMALL, 4)["critic"]
    rng = np.random.default_rng(5)
    T, B = CONFIG.learning.length, CONFIG.learning.batch
    last = np.zeros((T, B), bool)
    first = np.zeros((T, B), bool)
    last[1, 0] = first[2, 0] = True  # an episode ends inside the window, and it was terminal
    last[3, 1] = first[4, 1] = True  # another ends without being terminal
    first[0, 2] = True
    terminal = np.zeros((T, B), bool)
    terminal[1, 0] = True
    batch = Batch(
        observation=f32(3 * rng.normal(size=(T, B, 5))),
        previous_action=f32(1.5 * rng.normal(size=(T, B, 2))),
        reward=f32(rng.normal(size=(T, B))),
        first=first,
        last=last,
        terminal=terminal,
        h=f32(np.tanh(rng.normal(size=(B, 12)))),
        z=f32(np.tile(np.eye(4)[0], (B, 3))),
    )
    return params, slow, returns.Spread(jnp.float32(-2.0), jnp.float32(3.0)), batch, jax.random.key(6)


def oracle_losses(params, slow, spread, batch, key):
    s, c = CONFIG.sizes, CONFIG.learning
    posterior_key, imagination_key = jax.random.split(key)
    action_key, latent_key = jax.random.split(imagination_key)
    n = batch.first.size
    uniform = jax.random.uniform(posterior_key, (*batch.first.shape, s.categoricals))
    noise = jax.random.normal(action_key, (c.imagination, n, s.action))
    dream = jax.random.uniform(latent_key, (c.imagination, n, s.categoricals))
    return oracle.losses(params, slow, spread, batch, uniform, noise, dream, CONFIG)


VARIANTS = {
    "grouped": Speed(),
    "grouped, gradients in the loop": Speed(deferred=False),
    "dense": Speed(layout="dense", unroll=2, imagination_unroll=2),
}


@pytest.fixture(scope="module")
def expectation(case):
    params, slow, spread, batch, key = case

    def theirs(p):
        terms, low_high = oracle_losses(p, slow, spread, batch, key)
        return sum(oracle.WEIGHTS[name] * term for name, term in terms.items()), (terms, low_high)

    return jax.jit(jax.value_and_grad(theirs, has_aux=True))(params)


@pytest.mark.parametrize("speed", VARIANTS.values(), ids=VARIANTS.keys())
def test_every_loss_and_every_gradient_equal_the_oracle(case, expectation, speed):
    params, slow, spread, batch, key = case
    (expected, (terms, low_high)), wanted = expectation
    config = dataclasses.replace(CONFIG, speed=speed)

    def ours(p):
        return update.total_loss(p, slow, spread, batch, key, config)

    (total, (_, new_spread, log)), gradient = jax.jit(jax.value_and_grad(ours, has_aux=True))(params)
    for name, term in terms.items():
        np.testing.assert_allclose(log[f"loss_{name}"], term, rtol=5e-5, atol=1e-6, err_msg=name)
    np.testing.assert_allclose(total, expected, rtol=2e-5)
    np.testing.assert_allclose(new_spread, low_high, rtol=2e-5)
    for (path, g), w in zip(jax.tree_util.tree_flatten_with_path(gradient)[0], jax.tree.leaves(wanted), strict=True):
        size = np.linalg.norm(w)
        assert size > 0, f"{path} is not trained"
        assert np.linalg.norm(g - w) < 3e-4 * size, f"{path}"


def test_an_update_steps_every_tensor_and_moves_the_slow_critic(case):
    params, slow, spread, batch, key = case
    fast = dataclasses.replace(CONFIG, learning=dataclasses.replace(CONFIG.learning, learning_rate=1e-2, warmup=1))
    learner = update.Learner(params, slow, optimizer.init(params), spread)
    step = jax.jit(lambda learner, key: update.update(learner, batch, key, fast))
    once, posterior, log = step(learner, key)
    assert float(log["learning_rate"]) == 0.0  # the very first update only fills the moments
    jax.tree.map(np.testing.assert_array_equal, once.params, params)
    twice, _, log = step(once, key)
    assert float(log["learning_rate"]) == pytest.approx(1e-2)
    moved = jax.tree.map(lambda a, b: bool((a != b).any()), twice.params, params)
    assert all(jax.tree.leaves(moved))
    want = jax.tree.map(lambda s, f: 0.98 * s + 0.02 * f, once.slow, twice.params["critic"])
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6), twice.slow, want)
    assert posterior.h.shape == (5, 3, 12)
    assert posterior.z.shape == (5, 3, 3)
    assert posterior.z.dtype == jnp.uint8


def test_behaviour_losses_leave_the_world_model_alone_but_the_replay_critic_does_not(case):
    params, slow, spread, batch, key = case

    def loss(p, weights):
        # The weights enter as numbers, so that one compiled gradient serves all terms.
        learning = dataclasses.replace(CONFIG.learning, **{f"weight_{name}": w for name, w in weights.items()})
        return update.total_loss(p, slow, spread, batch, key, dataclasses.replace(CONFIG, learning=learning))[0]

    gradient = jax.jit(jax.grad(loss))

    def trained_by(term):
        found = gradient(params, {name: jnp.float32(name == term) for name in oracle.WEIGHTS})
        return {part for part, tree in found.items() if any((leaf != 0).any() for leaf in jax.tree.leaves(tree))}

    assert trained_by("actor") == {"actor"}
    assert trained_by("critic") == {"critic"}
    assert trained_by("replay_critic") == {"critic", "dynamics", "encoder"}
    assert trained_by("reward") == {"reward", "dynamics", "encoder"}
    assert trained_by("representation") == {"dynamics", "encoder"}
