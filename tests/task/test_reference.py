"""The task in plain Python against the compiled core: same episodes, same numbers."""

import numpy as np
import pytest

from blindsave.errors import BadInput
from blindsave.task.conditions import CLEAN, condition
from blindsave.task.controllers import intercept
from blindsave.task.defend import DefendBatch
from blindsave.task.episode import Episode
from blindsave.task.outcomes import Outcome
from blindsave.task.shots import shots
from blindsave.task.tracking import blackout

SHOTS = sorted(shots("calibration"), key=lambda shot: -shot.speed)
FIELDS = ("reward", "score", "outcome", "steps", "first_contact", "touched", "visible", "locked")
EPISODES = [
    CLEAN.episode(SHOTS[0], 10),
    condition("noise_5mm+bias_3mm_-2mm+puck_drag_0.5").episode(SHOTS[1], 5),
    Episode(SHOTS[2], blackout(4, start=2), locked_steps=0),
]


def make(backend: str, episodes=EPISODES) -> DefendBatch:
    batch = DefendBatch(len(episodes), backend=backend, threads=1)
    batch.reset(episodes)
    return batch


def assert_same(a: DefendBatch, b: DefendBatch) -> None:
    for name in FIELDS:
        assert np.array_equal(getattr(a, name), getattr(b, name)), name
    np.testing.assert_allclose(a.obs, b.obs, rtol=0, atol=1e-6)
    np.testing.assert_allclose(a.truth, b.truth, rtol=0, atol=1e-9)
    np.testing.assert_allclose(a.qpos, b.qpos, rtol=0, atol=1e-9)


def test_whole_episodes_agree_with_the_compiled_core():
    slow, fast = make("reference"), make("native")
    wobble = np.random.default_rng(3)
    while len(running := np.flatnonzero(fast.outcome == Outcome.RUNNING)):
        actions = intercept(fast.truth[running]) + wobble.normal(0, 0.1, (len(running), 2))
        slow.step(actions, running)
        fast.step(actions, running)
        assert_same(slow, fast)
    assert fast.touched.any()


def test_locked_commands_leave_no_trace_and_released_ones_do():
    batch = make("reference", [CLEAN.episode(SHOTS[0], 20)] * 2)
    for _ in range(5):
        assert batch.locked.all()
        batch.step([[1.0, 1.0], [-1.0, -1.0]])
        assert np.array_equal(batch.obs[0], batch.obs[1])
    assert not batch.locked.any()
    batch.step([[1.0, 1.0], [-1.0, -1.0]])
    assert not np.array_equal(batch.obs[0], batch.obs[1])


@pytest.mark.parametrize("backend", ["reference", "native"])
def test_hidden_observation_is_zero_flag_and_nothing_else_changes(backend):
    seen, hidden = make(backend, [Episode(SHOTS[5])]), make(backend, [Episode(SHOTS[5], blackout(2, start=1))])
    for step in range(1, 4):
        seen.step([[0.0, 0.0]])
        hidden.step([[0.0, 0.0]])
        visible = step >= 3
        assert hidden.visible[0] == visible
        assert np.array_equal(hidden.obs[0, :16], seen.obs[0, :16])
        assert np.array_equal(hidden.obs[0, 16:], seen.obs[0, 16:] if visible else np.zeros(3))


@pytest.mark.parametrize("backend", ["reference", "native"])
def test_noise_moves_only_the_visible_puck(backend):
    episode = condition("noise_5mm").episode(SHOTS[5], 1)
    clean, noisy = make(backend, [CLEAN.episode(SHOTS[5], 1)]), make(backend, [episode])
    assert episode.tracking.offset is not None
    for step in range(7):
        offset = episode.tracking.offset[step] if step != 5 else np.zeros(2)
        np.testing.assert_allclose(noisy.obs[0, 16:18] - clean.obs[0, 16:18], offset, atol=2e-7)
        assert np.array_equal(noisy.obs[0, :16], clean.obs[0, :16])
        clean.step([[0.0, 0.0]])
        noisy.step([[0.0, 0.0]])


def test_observation_stays_in_its_declared_box():
    batch = make("reference", [condition("bias_3000mm_-3000mm").episode(SHOTS[0], 0)])
    assert batch.obs[0, 16:18].tolist() == [1.0, -1.0]
    assert np.abs(batch.obs).max() <= 1


def test_snapshot_moves_an_episode_to_another_place():
    batch = make("reference", [EPISODES[1], EPISODES[0]])
    for _ in range(6):
        batch.step([[-0.8, 0.1]], ids=[0])
    batch.restore(1, batch.snapshot(0))
    for _ in range(3):
        batch.step([[-0.5, 0.3]] * 2)
    assert np.array_equal(batch.obs[0], batch.obs[1])
    assert batch.steps.tolist() == [9, 9]
    with pytest.raises(BadInput, match="not a snapshot"):
        batch.restore(0, b"short")


def test_broken_physics_is_a_counted_failure_with_a_sound_observation():
    batch = make("reference", [EPISODES[0]])
    batch.step([[0.0, 0.0]])
    last = batch.obs.copy()
    batch._core._arena._data[0].qvel[10] = np.nan
    batch.step([[0.0, 0.0]])
    assert Outcome(batch.outcome[0]) is Outcome.NON_FINITE_STATE
    assert np.array_equal(batch.obs, last)
    assert batch.steps[0] == 2


@pytest.mark.parametrize("backend", ["reference", "native"])
@pytest.mark.parametrize(
    ("actions", "fragment"), [([0.0, 0.0], "shape"), ([[0.0] * 3], "shape"), ([[0.0, np.nan]], "finite")]
)
def test_bad_actions_are_refused_and_change_nothing(backend, actions, fragment):
    batch = make(backend, [EPISODES[0]])
    before = batch.obs.copy()
    with pytest.raises(BadInput, match=fragment):
        batch.step(actions)
    assert batch.steps[0] == 0
    assert np.array_equal(batch.obs, before)
