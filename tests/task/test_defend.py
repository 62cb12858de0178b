"""The batched task on the compiled core: an episode is the same episode wherever and whenever it runs."""

import struct

import numpy as np
import pytest

from blindsave.errors import BadInput
from blindsave.task.conditions import condition, grid
from blindsave.task.defend import ROW, DefendBatch
from blindsave.task.episode import Episode
from blindsave.task.outcomes import Outcome
from blindsave.task.shots import shots
from blindsave.task.tracking import blackout

SHOTS = shots("validation")
EPISODE = condition("noise_2mm").episode(SHOTS[0], 20)
OTHERS = [*grid(SHOTS[1:8], (10,)), condition("puck_drag_2").episode(SHOTS[9], 0)]
ACTIONS = np.random.default_rng(8).uniform([-1, -0.4], [-0.4, 0.4], (125, 2)).astype(np.float32)


def trace(batch: DefendBatch, place: int, others: bool) -> bytes:
    """Everything one place shows over a whole episode, as bytes."""
    shown = []
    for action in ACTIONS:
        shown.append(b"".join(np.ascontiguousarray(getattr(batch, name)[place]).tobytes() for name in ROW.names[:-1]))
        shown.append(batch.qpos[place].tobytes())
        if batch.outcome[place] != Outcome.RUNNING:
            return b"".join(shown)
        ids = np.flatnonzero(batch.outcome == Outcome.RUNNING) if others else np.array([place])
        actions = np.full((len(ids), 2), 0.3, np.float32)
        actions[ids == place] = action
        batch.step(actions, ids)
    raise AssertionError("the episode did not end")


@pytest.fixture(scope="module")
def alone() -> bytes:
    batch = DefendBatch(1, threads=1)
    assert batch.backend == "native", "the tests insist on the compiled core"
    batch.reset([EPISODE])
    return trace(batch, 0, others=False)


@pytest.mark.parametrize(("n", "place", "threads"), [(2, 1, 1), (9, 0, 2), (9, 5, 3), (9, 8, 1)])
def test_an_episode_is_bit_identical_in_any_batch_place_and_thread_count(alone, n, place, threads):
    batch = DefendBatch(n, threads=threads)
    episodes = [*OTHERS[: n - 1]]
    episodes.insert(place, EPISODE)
    batch.reset(episodes)
    assert trace(batch, place, others=True) == alone


def test_an_episode_is_bit_identical_after_any_other(alone):
    batch = DefendBatch(2, threads=2)
    for other in OTHERS:
        batch.reset([other], ids=[1])
        for _ in range(7):
            batch.step([[1.0, -1.0]], ids=[1])
    batch.reset([EPISODE], ids=[1])
    assert trace(batch, 1, others=False) == alone


@pytest.mark.parametrize("steps", [1, 3, 12, 30])
def test_a_snapshot_in_mid_episode_continues_bit_identically_elsewhere(steps):
    batch, other = DefendBatch(3), DefendBatch(2, threads=1)
    batch.reset([EPISODE, *OTHERS[:2]])
    other.reset(OTHERS[:2])
    for action in ACTIONS[:steps]:
        batch.step([action], ids=[0])
        other.step([[0.9, 0.9]] * 2)
    other.restore(1, batch.snapshot(0))
    for action in ACTIONS[steps : steps + 10]:
        batch.step([action], ids=[0])
        other.step([action], ids=[1])
        for name in ROW.names[:-1]:
            assert np.array_equal(getattr(batch, name)[0], getattr(other, name)[1]), name
    assert np.array_equal(batch.qpos[0], other.qpos[1])


@pytest.mark.parametrize("backend", ["reference", "native"])
@pytest.mark.parametrize(("drag", "drag_there"), [(1.0, 2.0), (2.0, 1.0)])
def test_a_snapshot_takes_its_drag_along(backend, drag, drag_there):
    batch = DefendBatch(2, backend=backend)
    batch.reset([Episode(SHOTS[0], puck_drag=drag), Episode(SHOTS[0], puck_drag=drag_there)])
    batch.step(np.zeros((2, 2)))
    batch.restore(1, batch.snapshot(0))
    batch.step(np.zeros((2, 2)))
    assert np.array_equal(batch.truth[0], batch.truth[1])


def test_a_changed_drag_stays_in_its_place():
    batch = DefendBatch(2)
    batch.reset([Episode(SHOTS[0]), Episode(SHOTS[0], puck_drag=3.0)])
    batch.step(np.zeros((2, 2)))
    plain, dragged = batch.truth[:, 2] / SHOTS[0].vx
    assert plain == pytest.approx(1.0005**-20, rel=1e-12)
    assert dragged == pytest.approx(1.0015**-20, rel=1e-12)
    batch.reset([Episode(SHOTS[0])], ids=[1])
    batch.step(np.zeros((1, 2)), ids=[1])
    assert batch.truth[1, 2] == batch.truth[0, 2]


def test_a_broken_simulation_ends_its_own_episode_only():
    batch, intact = DefendBatch(2, threads=2), DefendBatch(1)
    batch.reset([EPISODE, OTHERS[0]])
    intact.reset([OTHERS[0]])
    batch.step(np.zeros((2, 2)))
    intact.step(np.zeros((1, 2)))
    sound = batch.obs[0].copy()
    speed = struct.pack("<d", batch.truth[0, 3])
    broken = batch.snapshot(0).replace(speed, struct.pack("<d", float("nan")), 1)
    batch.restore(0, broken)
    batch.step(np.zeros((2, 2)))
    intact.step(np.zeros((1, 2)))
    assert Outcome(batch.outcome[0]).faulty
    assert np.array_equal(batch.obs[0], sound)
    assert batch.outcome[1] == Outcome.RUNNING
    assert np.array_equal(batch.obs[1], intact.obs[0])
    batch.reset([EPISODE], ids=[0])
    assert batch.outcome[0] == Outcome.RUNNING


@pytest.mark.parametrize(
    ("act", "fragment"),
    [
        (lambda batch: batch.reset([EPISODE]), "as many episodes"),
        (lambda batch: batch.step(np.zeros((2, 2))), "no running episode"),
        (lambda batch: batch.reset([EPISODE], ids=[2]), "environment numbers"),
        (lambda batch: batch.reset([EPISODE] * 2, ids=[1, 1]), "different"),
        (lambda batch: DefendBatch(0), "at least one"),
        (lambda batch: DefendBatch(1, threads=0), "threads"),
        (lambda batch: DefendBatch(1, backend="gpu"), "backend"),
        (lambda batch: Episode(SHOTS[0], blackout(130)), "does not fit"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(act, fragment):
    with pytest.raises(BadInput, match=fragment) as caught:
        act(DefendBatch(2))
    assert "\n" not in str(caught.value)
