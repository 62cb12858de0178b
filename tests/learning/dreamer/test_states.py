"""The recurrent state: block GRU against a loop over blocks, resets, and acting as one step of the same scan."""

import dataclasses

import dreamer_oracle as oracle
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from dreamer_cases import SMALL, random_params

from blindsave.learning.dreamer import agent, recurrent, world
from blindsave.learning.dreamer.config import Config, Speed
from blindsave.learning.dreamer.nets import cast_for_compute

SIZES = SMALL
CONFIG = Config(SIZES)
f32 = np.float32

pytestmark = pytest.mark.usefixtures("quick_compilation")


@pytest.fixture(scope="module")
def params():
    return random_params(SIZES, 0)


def window(steps, n, seed=0):
    rng = np.random.default_rng(seed)
    no = np.zeros((steps, n), bool)
    return world.Batch(
        observation=f32(rng.normal(size=(steps, n, 5))),
        previous_action=f32(2 * rng.normal(size=(steps, n, 2))),
        reward=np.zeros((steps, n), np.float32),
        first=no,
        last=no,
        terminal=no,
        h=f32(np.tanh(rng.normal(size=(n, 12)))),
        z=f32(np.tile(np.eye(4)[1], (n, 3))),
    )


def observe(params, batch, uniform=None, speed=CONFIG.speed):
    config = dataclasses.replace(CONFIG, speed=speed)
    p = cast_for_compute(params, jnp.dtype(speed.dtype))
    m = recurrent.prepare(p["dynamics"], SIZES, speed.layout)
    return jax.jit(lambda b, u: world.observe(p, m, b, u, config))(batch, uniform)


@pytest.mark.parametrize("layout", ["grouped", "dense"])
def test_block_gru_equals_an_explicit_loop_over_blocks(params, layout):
    batch = window(1, 6)
    m = recurrent.prepare(params["dynamics"], SIZES, layout)
    action = jnp.array([[0.5, -3.0], [1.0, 2.0], [0.0, 0.0], [-1.5, 0.1], [9.0, -9.0], [0.2, 0.3]])
    site = recurrent.plain_site(m, SIZES, layout)
    embedded = recurrent.embed_action(m, action)
    ours = jax.jit(lambda h, z, a: recurrent.advance(site, SIZES, h, z, a))(batch.h, batch.z, embedded)
    loop = jax.jit(lambda h, z, a: oracle.gru(params["dynamics"], SIZES, h, z, a))(batch.h, batch.z, action)
    np.testing.assert_allclose(ours, loop, rtol=1e-4, atol=1e-5)


def test_actions_beyond_the_interval_count_as_its_ends(params):
    m = recurrent.prepare(params["dynamics"], SIZES, "grouped")
    far, near = jnp.array([[5.0, -2.0]]), jnp.array([[1.0, -1.0]])
    np.testing.assert_allclose(recurrent.embed_action(m, far), recurrent.embed_action(m, near), rtol=1e-6)
    inside = jnp.array([[0.5, -0.25]])
    assert float(jnp.abs(recurrent.embed_action(m, inside) - recurrent.embed_action(m, near)).max()) > 1e-3


def test_a_reset_inside_a_window_equals_a_fresh_start_there_and_touches_no_other_window(params):
    batch = window(6, 2)
    uniform = f32(np.random.default_rng(5).random((6, 2, 3)))
    first = batch.first.copy()
    first[3, 0] = True
    reset = batch._replace(first=first)
    before, after = observe(params, batch, uniform), observe(params, reset, uniform)
    np.testing.assert_array_equal(after.h[:3], before.h[:3])
    np.testing.assert_array_equal(after.h[:, 1], before.h[:, 1])
    fresh = jax.tree.map(lambda x: x[3:], batch._replace(h=None, z=None))
    fresh.previous_action[0] = 0.0
    fresh = fresh._replace(h=np.zeros((2, 12), f32), z=np.zeros((2, 12), f32))
    np.testing.assert_allclose(observe(params, fresh, uniform[3:]).h[:, 0], after.h[3:, 0], rtol=1e-5, atol=1e-6)
    assert float(jnp.abs(after.h[3:, 0] - before.h[3:, 0]).max()) > 1e-3


def test_the_state_before_a_window_matters(params):
    batch = window(3, 2)
    uniform = f32(np.random.default_rng(5).random((3, 2, 3)))
    other = observe(params, batch._replace(h=-batch.h), uniform)
    assert float(jnp.abs(other.h - observe(params, batch, uniform).h).max()) > 1e-3


@pytest.mark.parametrize(
    "speed", [Speed(layout="dense"), Speed(unroll=3), Speed(dtype="bfloat16")], ids=["dense", "unrolled", "bfloat16"]
)
def test_layout_does_not_change_what_is_computed(params, speed):
    batch = window(6, 3)
    reference, other = observe(params, batch), observe(params, batch, speed=speed)
    tolerance = 0.15 if speed.dtype == "bfloat16" else 1e-4
    np.testing.assert_allclose(reference.h[0], other.h[0].astype(jnp.float32), atol=tolerance)
    if speed.dtype == "float32":
        np.testing.assert_allclose(reference.h, other.h, atol=tolerance)


def test_acting_step_by_step_equals_the_scan_over_the_same_window(params):
    steps, n = 5, 3
    batch = window(steps, n)
    act = jax.jit(lambda c, o, f: agent.act(params, c, o, f, None, CONFIG))
    carry, hs = agent.initial(n, CONFIG), []
    previous = []
    for t in range(steps):
        previous.append(carry.action)
        first = np.array([t == 0, t in (0, 3), t == 0])
        carry = act(carry, batch.observation[t], first)
        hs.append(carry.h)
    flags = np.zeros((steps, n), bool)
    flags[0] = flags[3, 1] = True
    together = observe(params, batch._replace(previous_action=jnp.stack(previous), first=flags))
    np.testing.assert_allclose(jnp.stack(hs), together.h, rtol=1e-5, atol=1e-5)


def test_deterministic_actions_are_means_and_do_not_depend_on_the_neighbours(params):
    obs = f32(np.random.default_rng(8).normal(size=(4, 5)))
    first = np.ones(4, bool)
    act = jax.jit(lambda o, f, key=None: agent.act(params, agent.initial(o.shape[0], CONFIG), o, f, key, CONFIG))
    together = act(obs, first).action
    assert (jnp.abs(together) < 1).all()
    alone = jnp.concatenate([act(obs[i : i + 1], first[:1]).action for i in range(4)])
    np.testing.assert_allclose(together, alone, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(act(obs, first).action, together)
    sampled = act(obs, first, jax.random.key(0)).action
    assert float(jnp.abs(sampled - together).max()) > 0.01


def test_acting_parameters_are_named_and_float32(params):
    named = agent.acting_parameters(params)
    assert named["dynamics/hidden/kernel"].shape == (3, 4 + 18, 4)
    assert named["dynamics/gates/kernel"].shape == (3, 4, 12)
    assert named["actor/mean/bias"].shape == (2,)
    assert not [name for name in named if "prior" in name or "decoder" in name or "critic" in name]
    assert {v.dtype for v in named.values()} == {np.dtype(np.float32)}
