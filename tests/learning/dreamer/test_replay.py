"""The replay: windows of unbroken streams, online queue, latent write-back, wrap-around, and the samplers."""

import dataclasses
import itertools
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from blindsave.learning.dreamer import replay, selectors
from blindsave.learning.dreamer.config import Config, Learning, Replay, Sizes, Training

N, WINDOW = 3, 5
SIZES = Sizes(2, 1, deter=4, hidden=4, categoricals=2, classes=3, blocks=2, units=4, bins=5)


def configure(slots=40, sampler="uniform", **more):
    capacity = N * (slots - WINDOW + 1)
    return Config(
        SIZES,
        Learning(batch=more.pop("batch", 6), length=WINDOW - 1),
        Replay(capacity=capacity, sampler=sampler, **more),
        Training(steps=10**6, envs=N),
    )


def transition(t):
    """Observation (environment, time), episodes of seven steps, latents that tell where they come from."""
    env = np.arange(N)
    full = lambda v: np.full(N, v)  # noqa: E731
    return replay.Transition(
        observation=np.stack([env, full(t)], 1).astype(np.float32),
        action=np.stack([10 * env + t], 1).astype(np.float32),
        reward=(100 * env + t).astype(np.float32),
        first=full(t % 7 == 0),
        last=full(t % 7 == 6),
        terminal=full(t % 14 == 6),
        h=np.repeat((env + t / 64)[:, None], 4, 1).astype(np.float32),
        z=np.stack([env % 3, full(t % 3)], 1).astype(np.uint8),
    )


insert = jax.jit(replay.insert)


def fill(config, steps):
    buffer = replay.create(config)
    for t in range(steps):
        buffer = insert(buffer, transition(t))
    return buffer


def test_slots_hold_the_capacity_but_no_more_than_the_run_can_fill():
    assert replay.slots(configure(slots=40)) == 40
    short = dataclasses.replace(configure(), training=Training(steps=30, envs=3))
    assert replay.slots(short) == 10 + WINDOW
    paper = Config(Sizes(19, 2), training=Training(envs=32))
    assert replay.slots(paper) == 31_250 + 65


@pytest.mark.parametrize("steps", [40, 57, 200], ids=["full", "wrapped", "wrapped often"])
def test_windows_never_leave_their_stream_and_keep_its_order(steps):
    config = configure(batch=64)
    buffer = fill(config, steps)
    windows, buffer = jax.jit(partial(selectors.draw, config=config))(buffer, jax.random.key(0))
    batch = jax.jit(partial(replay.gather, config=config))(buffer, windows)
    env, time = batch.observation[..., 0], batch.observation[..., 1]
    assert (env == env[0]).all()
    assert (jnp.diff(time, axis=0) == 1).all()
    assert (time[0] == windows.start + 1).all()
    assert int(time.max()) < steps
    assert int(windows.start.min()) >= steps - 40
    np.testing.assert_array_equal(batch.previous_action[..., 0], 10 * env + time - 1)
    np.testing.assert_array_equal(batch.reward, 100 * env + time)
    np.testing.assert_array_equal(batch.first, time % 7 == 0)
    np.testing.assert_array_equal(batch.terminal, time % 14 == 6)
    np.testing.assert_allclose(batch.h[:, 0], (env[0] + (time[0] - 1) / 64).astype(jnp.bfloat16), rtol=1e-2)
    np.testing.assert_array_equal(batch.z[:, 3:], np.eye(3)[np.asarray((time[0] - 1) % 3, int)])


def test_a_step_before_a_reset_counts_as_last_even_if_its_episode_was_cut_off():
    config = configure()
    buffer = fill(config, 20)
    cut = buffer._replace(first=buffer.first.at[1, 10].set(True))
    windows = replay.Windows(jnp.array([1, 1]), jnp.array([7, 2]))
    batch = replay.gather(cut, windows, config)
    assert batch.last[:, 0].tolist() == [False, True, False, False]  # time 9 precedes the reset of time 10
    assert batch.last[:, 1].tolist() == [False, False, False, True]  # time 6 ends its episode


def test_uniform_draws_cover_every_stored_window_alike():
    config = configure(batch=2000)
    buffer = fill(config, 30)._replace(online_used=jnp.int32(10**6))
    windows, _ = jax.jit(partial(selectors.draw, config=config))(buffer, jax.random.key(1))
    starts = 30 - WINDOW + 1
    counts = np.bincount(np.asarray(windows.start * N + windows.env), minlength=N * starts)
    assert len(counts) == N * starts
    expected = 2000 / (N * starts)
    assert counts.min() > 0.4 * expected
    assert counts.max() < 1.9 * expected


def test_the_online_queue_serves_disjoint_windows_in_order_once_and_first():
    config = configure(batch=4)
    draw = jax.jit(partial(selectors.draw, config=config))
    buffer, served = replay.create(config), []
    for t in range(21):
        buffer = insert(buffer, transition(t))
        waiting = int(replay.online_waiting(buffer, WINDOW))
        if t >= WINDOW:
            windows, buffer = draw(buffer, jax.random.key(t))
            take = min(waiting, 4)
            served += list(zip(windows.env[:take].tolist(), windows.start[:take].tolist(), strict=True))
            assert int(replay.online_waiting(buffer, WINDOW)) == waiting - take
    assert served == [(env, start) for start in (1, 6, 11, 16) for env in range(N)]


def test_online_windows_that_were_overwritten_are_skipped():
    config = configure(slots=12, batch=4)
    buffer = fill(config, 40)
    windows, mask, after = replay.take_online(buffer, 4, WINDOW)
    assert not mask.any()
    assert int(after.online_used) == 4
    assert int(windows.start[0]) == 1


def test_write_back_replaces_the_latents_of_the_trained_steps_only():
    config = configure(slots=12)
    buffer = fill(config, 20)
    windows = replay.Windows(jnp.array([2]), jnp.array([10]))  # trained times 11..14, slots 11, 0, 1, 2
    h = jnp.full((4, 1, 4), 9.0)
    z = jnp.ones((4, 1, 2), jnp.uint8) * 2
    after = replay.write_back(buffer, windows, h, z)
    changed = np.asarray((after.h != buffer.h).any(-1))
    assert sorted(zip(*np.nonzero(changed), strict=True)) == [(2, 0), (2, 1), (2, 2), (2, 11)]
    assert (after.z[2, jnp.array([11, 0, 1, 2])] == 2).all()
    np.testing.assert_array_equal(replay.gather(after, windows._replace(start=jnp.array([11])), config).h, h[0])


def test_recent_windows_are_drawn_with_weight_one_over_age():
    uniform = jnp.linspace(0, 1, 200_001)[:-1]
    capacity = 50
    ages = np.asarray(selectors.recency_age(uniform, jnp.int32(capacity), capacity))
    share = np.bincount(ages, minlength=capacity) / len(ages)
    weights = 1 / np.arange(1, capacity + 1)
    np.testing.assert_allclose(share, weights / weights.sum(), atol=2e-4)


def test_ages_of_a_young_replay_are_scaled_down_from_the_whole_capacity():
    uniform = (jnp.arange(200_000) + 0.5) / 200_000
    ages = np.asarray(selectors.recency_age(uniform, jnp.int32(20_000), 2_000_000))
    mass = np.cumsum(1 / np.arange(1, 2_000_001))
    for age in (1, 13, 100, 5000, 19_000):  # an age below this came from a draw below a hundred times this
        assert np.mean(ages < age) == pytest.approx(mass[100 * age - 1] / mass[-1], abs=1e-4)
    assert ages.min() == 0
    assert ages.max() <= 19_999


def test_tree_prefers_windows_that_hold_a_step_not_yet_covered():
    fresh = np.zeros(600, bool)
    fresh[[17, 300, 301]] = True
    draw = jax.jit(jax.vmap(lambda key: selectors.tree_draw(jnp.asarray(fresh), jnp.int32(600), key)))
    items = np.asarray(draw(jax.random.split(jax.random.key(0), 4000)))
    share = np.bincount(items, minlength=600) / 4000
    # The root has fresh items in two children (0-255, 256-511); below, uniform among fresh children again.
    np.testing.assert_allclose(share[[17, 300, 301]], [0.5, 0.25, 0.25], atol=0.03)
    nothing = jax.jit(jax.vmap(lambda key: selectors.tree_draw(jnp.zeros(600, bool), jnp.int32(520), key)))
    items = np.asarray(nothing(jax.random.split(jax.random.key(1), 4000)))
    assert items.max() < 520
    # Uniform among children, not among items: the eight items of the last child of the root get a third of all.
    np.testing.assert_allclose(np.mean(items >= 512), 1 / 3, atol=0.03)


def test_mixture_draws_each_selector_at_its_share_and_covers_what_it_draws():
    config = configure(slots=300, sampler="mixture", batch=16)
    buffer = replay.create(config)
    rng = np.random.default_rng(0)
    stored = 200
    buffer = buffer._replace(
        clock=jnp.int32(stored), online_used=jnp.int32(10**6), fresh=buffer.fresh.at[:, :stored].set(True)
    )
    draw = jax.jit(partial(selectors.draw, config=config))
    uncovered = [int(buffer.fresh.sum())]
    for seed in rng.integers(0, 10**6, 40):
        windows, buffer = draw(buffer, jax.random.key(seed))
        assert int(windows.start.max()) <= stored - WINDOW
        uncovered.append(int(buffer.fresh.sum()))
    assert all(b <= a for a, b in itertools.pairwise(uncovered))
    # 16 x 0.6 priority draws of 5 steps each while everything is fresh; in the end nothing is.
    assert 16 * 0.6 * 5 * 0.5 < uncovered[0] - uncovered[1] <= 16 * 5
    assert uncovered[-1] < 0.05 * uncovered[0]


def test_mixture_of_recency_alone_prefers_the_newest_windows():
    config = configure(
        slots=300, sampler="mixture", batch=400, fraction_uniform=0.0, fraction_priority=0.0, fraction_recency=1.0
    )
    buffer = replay.create(config)._replace(clock=jnp.int32(200), online_used=jnp.int32(10**6))
    windows, after = jax.jit(partial(selectors.draw, config=config))(buffer, jax.random.key(0))
    assert np.mean(windows.start > 180) > 0.5
    np.testing.assert_array_equal(after.fresh, buffer.fresh)
