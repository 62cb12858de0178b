"""What each of our own faults does, and that the compiled core and plain Python agree on all of them."""

import numpy as np
import pytest

from blindsave.task.conditions import condition, kinds
from blindsave.task.defend import DefendBatch
from blindsave.task.draft import Draft
from blindsave.task.interface import PUCK, PUCK_PER_MM
from blindsave.task.shots import find, shots
from blindsave.task.tracking import OBSERVATIONS, OWN, standard_normals

SHOT = shots("validation")[0]
EXAMPLES = {
    "noise": "noise_5mm_correlation_0.5",
    "bias": "bias_3mm_-2mm",
    "shift": "shift_5mm",
    "warp": "warp_10mm",
    "latency": "latency_2_jitter_1",
    "stale": "stale",
    "frozen": "frozen",
    "outliers": "outliers_30percent",
    "ghost": "ghost_3",
    "glitch": "glitch_100mm",
    "dropped": "dropped_20percent",
    "bursts": "bursts_30percent",
    "hidden": "hidden_30_40",
    "again": "again_5",
    "puck_drag": "puck_drag_2",
    "hold": "hold_4",
    "shot_speed": "shot_speed_0.7",
    "remember": "remember_5",
}


def tracking(name: str, blackout: int = 0):
    return condition(name).episode(SHOT, blackout).tracking


def seen(name: str, blackout: int, backend: str, steps: int = 25) -> np.ndarray:
    """What is observed under a condition while the arm is told to go somewhere."""
    batch = DefendBatch(1, threads=1, backend=backend)
    batch.reset([condition(name).episode(SHOT, blackout)])
    found = [batch.obs[0].copy()]
    for t in range(steps):
        batch.step(np.array([[0.3 * np.sin(t), -0.2]], np.float32))
        found.append(batch.obs[0].copy())
    return np.array(found)


def test_there_is_an_example_of_every_kind():
    assert EXAMPLES.keys() == kinds().keys()


@pytest.mark.parametrize("name", EXAMPLES.values())
def test_compiled_core_and_reference_agree_under_every_fault(name):
    compiled, plain = (seen(name, 6, backend) for backend in ("native", "reference"))
    np.testing.assert_allclose(compiled, plain, atol=1e-6)
    assert np.array_equal(compiled[:, 18], plain[:, 18])


@pytest.mark.parametrize("name", ["warp_10mm", "latency_2", "frozen", "outliers_30percent"])
def test_faults_survive_a_snapshot(name):
    batch = DefendBatch(2, threads=1)
    batch.reset([condition(name).episode(SHOT, 6)] * 2)
    action = np.zeros((1, 2), np.float32)
    for _ in range(7):
        batch.step(action, [0])
    batch.restore(1, batch.snapshot(0))
    for _ in range(8):
        batch.step(np.repeat(action, 2, axis=0))
        assert np.array_equal(batch.obs[0], batch.obs[1])


def test_noise_has_the_published_trace_and_size():
    offset = tracking("noise_5mm").offset
    np.testing.assert_allclose(offset / standard_normals(SHOT.unit), [[0.00530588, 0.01025957]] * 126, atol=5e-9)


def test_correlated_noise_keeps_its_spread_and_correlates():
    offsets = [condition("noise_1mm_correlation_0.9").episode(shot).tracking.offset for shot in shots("train")[:200]]
    traces = np.concatenate([offset / PUCK_PER_MM for offset in offsets], axis=1)
    assert traces.std() == pytest.approx(1.0, abs=0.05)
    assert np.mean(traces[1:] * traces[:-1]) == pytest.approx(0.9, abs=0.05)


@pytest.mark.parametrize("nothing", ["noise_0mm", "bias_0mm_0mm", "warp_0mm", "latency_0", "dropped_0percent", "stale"])
def test_a_fault_of_no_size_takes_the_exact_clean_path(nothing):
    found = tracking(nothing)
    assert found.visible.all()
    assert (found.offset, found.source, found.reported, found.place, found.field) == (None,) * 5


def test_errors_add_up_in_a_combination():
    expected = standard_normals(SHOT.unit) * PUCK_PER_MM + np.array([2.0, -3.0]) * PUCK_PER_MM
    np.testing.assert_allclose(tracking("noise_1mm+bias_2mm_-3mm").offset, expected, rtol=1e-13)


def test_a_shift_has_its_size_in_a_direction_of_the_units_own():
    moved = np.array([condition("shift_5mm").episode(s).tracking.offset[0] / PUCK_PER_MM for s in shots("train")[:50]])
    np.testing.assert_allclose(np.hypot(*moved.T), 5, rtol=1e-12)
    assert np.ptp(np.arctan2(moved[:, 1], moved[:, 0])) > 3


def test_late_messages_are_those_of_the_past_flag_included():
    late, now = seen("latency_3", 6, "native"), seen("clean", 6, "native")
    assert np.array_equal(late[3:, PUCK], now[:-3, PUCK])
    assert np.array_equal(late[3:, 18], now[:-3, 18])


@pytest.mark.parametrize(("name", "flag"), [("stale", 0), ("frozen", 1)])
def test_a_lost_puck_stays_where_it_was_last_seen(name, flag):
    found, clean = seen(name, 6, "native"), seen("clean", 6, "native")
    assert np.array_equal(found[5:11, PUCK], np.repeat(clean[4:5, PUCK], 6, axis=0))
    assert (found[5:11, 18] == flag).all()
    assert np.array_equal(found[11:], clean[11:])


def test_a_ghost_is_one_position_somewhere_on_the_table():
    found, clean = seen("ghost_3", 0, "native"), seen("clean", 0, "native")
    assert np.flatnonzero((found != clean).any(axis=1)).tolist() == [3]
    assert (np.abs(found[3, PUCK]) <= 1).all()


def test_a_glitch_is_one_reading_off_by_its_size_the_last_before_the_blackout_unless_told():
    clean = seen("clean", 6, "native")
    for name, at in (("glitch_100mm", 4), ("glitch_100mm_at_2", 2)):
        found = seen(name, 6, "native")
        assert np.flatnonzero((found != clean).any(axis=1)).tolist() == [at]
        off = condition(name).episode(SHOT, 6).tracking.offset[at] / PUCK_PER_MM
        assert np.hypot(*off) == pytest.approx(100)


def test_shares_are_kept():
    for name, share in (("outliers_10percent", 0.1), ("dropped_20percent", 0.2), ("bursts_30percent_run_10", 0.3)):
        found = [condition(name).episode(shot).tracking for shot in shots("train")]
        missing = [~t.visible if t.place is None else ~np.isnan(t.place).any(axis=1) for t in found]
        assert np.mean(missing) == pytest.approx(share, abs=0.03), name


def test_losses_come_in_runs_of_the_given_mean():
    lost = [~condition("bursts_20percent_run_8").episode(shot).tracking.visible for shot in shots("train")]
    runs = [len(run) for one in lost for run in "".join("x" if v else " " for v in one).split()]
    assert 5.5 < np.mean(runs) < 9  # episodes cut long runs


def test_a_second_blackout_follows_the_first():
    assert np.flatnonzero(~tracking("again_3_gap_2", 4).visible).tolist() == [5, 6, 7, 8, 11, 12, 13]


def test_a_warp_has_its_size_over_the_table():
    sizes = []
    for shot in shots("train")[:40]:
        field = condition("warp_5mm").episode(shot).tracking.field
        places = np.random.default_rng(0).uniform(-1, 1, (200, 2))
        x, y = places.T
        terms = np.stack([x**0, x, y, x * x, x * y, y * y, x**3, x * x * y, x * y * y, y**3])
        sizes.append(np.sqrt((((field @ terms).T / PUCK_PER_MM) ** 2).sum(axis=1).mean()))
    assert np.mean(sizes) == pytest.approx(5, rel=0.15)


def test_slower_alias_shots_still_meet_after_five_steps():
    pair = [find(f"validation:alias:038:near_post_{side}") for side in ("left", "right")]
    slow = [condition("shot_speed_0.6").episode(shot).shot for shot in pair]
    met = [(shot.x + 0.1 * shot.vx, shot.y + 0.1 * shot.vy) for shot in slow]
    np.testing.assert_allclose(met[0], met[1], atol=1e-12)
    assert slow[0].speed == pytest.approx(0.6 * pair[0].speed)


def test_a_draft_reports_moments_of_the_past_with_their_errors():
    draft = Draft(SHOT)
    draft.offset[4] = 1.0
    draft.report(np.maximum(OWN - 2, 0))
    assert draft.offset[6].tolist() == [1, 1] and not draft.offset[4].any()
    assert draft.source[OBSERVATIONS - 1] == OBSERVATIONS - 3
