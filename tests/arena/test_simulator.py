"""An episode is a function of its launch and actions alone: batch, place, threads and history do not matter."""

import mujoco
import numpy as np
import pytest

from blindsave.arena import Arena, native, scene
from blindsave.arena.simulator import choose_backend
from blindsave.errors import BadInput

STEPS = 45
LAUNCH = np.array([0.55, 0.05, 0.0, -2.2, -0.1, 0.0])
ACTIONS = np.random.default_rng(7).uniform(-1.2, 1.2, (STEPS, 2)).astype(np.float32)
EVERYTHING = [name for name in native.ROW.names or () if name != "padding"]


def record(arena: Arena, place: int, start: int = 0) -> list[bytes]:
    """Everything that can be read of one place, step by step."""
    rows = []
    for action in ACTIONS[start:]:
        arena.step([action], [place])
        rows.append(b"".join(getattr(arena, name)[place].tobytes() for name in EVERYTHING))
    return rows


@pytest.fixture(scope="module")
def alone() -> list[bytes]:
    arena = Arena(1, threads=1)
    arena.reset([LAUNCH])
    return record(arena, 0)


def test_the_compiled_core_is_what_is_tested():
    assert choose_backend("auto") == "native"


def test_mujoco_is_not_asked_for_the_time_at_every_step():
    native.load()
    model = scene.physics_model()
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 10)
    timers = data.timer.duration
    assert len(timers) > 10 and not np.any(timers)


@pytest.mark.parametrize(("n", "place", "threads"), [(2, 1, 1), (9, 4, 2), (80, 79, 2)])
def test_place_batch_size_and_threads_do_not_matter(alone, n, place, threads):
    arena = Arena(n, threads=threads)
    launches = np.random.default_rng(n).uniform(-0.3, 0.3, (n, 6))
    launches[place] = LAUNCH
    arena.reset(launches)
    rng = np.random.default_rng(0)
    for step, action in enumerate(ACTIONS):
        actions = rng.uniform(-1, 1, (n, 2)).astype(np.float32)
        actions[place] = action
        arena.step(actions)
        row = b"".join(getattr(arena, name)[place].tobytes() for name in EVERYTHING)
        assert row == alone[step], f"step {step}"


def test_earlier_episodes_leave_no_trace(alone):
    arena = Arena(1, threads=1)
    for seed in range(3):
        arena.reset(np.random.default_rng(seed).uniform(-0.4, 0.4, (1, 6)))
        for _ in range(10 + seed):
            arena.step([[0.9, -0.9]])
    arena.reset([LAUNCH])
    assert record(arena, 0) == alone


@pytest.mark.parametrize("moment", [0, 1, 7, 20, 31])
def test_a_snapshot_continues_bit_identically_elsewhere(alone, moment):
    first, second = Arena(1, threads=1), Arena(3, threads=2)
    first.reset([LAUNCH])
    for action in ACTIONS[:moment]:
        first.step([action])
    second.reset(np.zeros((3, 6)))
    second.step(np.ones((3, 2)))
    second.restore(2, first.snapshot(0))
    assert record(second, 2, start=moment) == alone[moment:]


def test_stepping_some_places_leaves_the_others_alone():
    arena = Arena(4)
    arena.reset(np.tile(LAUNCH, (4, 1)))
    before = arena._rows.copy()
    arena.step(np.zeros((2, 2)), [3, 1])
    assert arena._rows[[0, 2]].tobytes() == before[[0, 2]].tobytes()
    assert (arena._rows[[1, 3]]["qpos"] != before[[1, 3]]["qpos"]).any(axis=1).all()


def test_a_diverged_state_is_a_fault_of_that_environment_only():
    arena = Arena(2)
    arena.reset([LAUNCH, [0.5, 0.0, 0.0, -1e300, 1e300, 0.0]])
    for _ in range(3):
        arena.step(np.zeros((2, 2)))
    assert arena.fault.tolist() == [False, True]
    assert np.isfinite(arena.qpos[0]).all()


BAD = [
    (lambda a: a.step(np.zeros((3, 2))), "shape"),
    (lambda a: a.step(np.zeros(2)), "shape"),
    (lambda a: a.step([[0, np.nan], [0, 0]]), "finite"),
    (lambda a: a.step([[0, 0]], [2]), "0..1"),
    (lambda a: a.step([[0, 0], [0, 0]], [1, 1]), "different"),
    (lambda a: a.reset(np.zeros((2, 5))), "shape"),
    (lambda a: a.reset(np.full((2, 6), np.inf)), "finite"),
    (lambda a: Arena(0), "at least one"),
    (lambda a: Arena(1, threads=0), "at least 1"),
    (lambda a: Arena(1, backend="gpu"), "backend"),
]


@pytest.mark.parametrize(("call", "word"), BAD)
def test_bad_input_gets_one_clear_sentence(call, word):
    arena = Arena(2)
    arena.reset(np.tile(LAUNCH, (2, 1)))
    with pytest.raises(BadInput, match=word) as error:
        call(arena)
    assert "\n" not in str(error.value)


def test_a_foreign_snapshot_is_refused():
    arena = Arena(1)
    arena.reset([LAUNCH])
    before = arena.snapshot(0)
    with pytest.raises(ValueError, match="not a snapshot"):
        arena.restore(0, b"nonsense")
    assert arena.snapshot(0) == before
