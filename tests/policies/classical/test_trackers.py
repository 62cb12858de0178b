"""What each tracker makes of readings whose truth is known."""

import numpy as np
import pytest

from blindsave.policies.classical import motion
from blindsave.policies.classical.rivals import settings
from blindsave.policies.classical.trackers import Differences, LeastSquares
from blindsave.policies.trace import trace

F = np.float32
LAUNCH, SPEED = np.array([2.06, -0.02]), np.array([-2.2, 0.16])
TRACKERS = {
    name: settings(name).tracker for name in ("differences", "least_squares", "kalman", "kalman_gated", "bayes")
}
WITH_DRAG = ("kalman", "kalman_gated", "bayes")


def flight(steps, drag=True):
    t = np.arange(steps)
    way = motion.glide_s(t) if drag else t * 0.02
    return LAUNCH + SPEED * way[:, None]


def follow(tracker, readings, seen=None):
    """Place and velocity after every reading; NaN-free whatever is not seen."""
    seen = np.ones(len(readings)) if seen is None else np.asarray(seen)

    def step(ops, carry, row):
        memory, place, velocity = tracker.track(ops, carry, row[..., :2], row[..., 2:3])
        return memory, ops.concat(place, velocity)

    program = trace(step, carry=tracker.memory, observation=3)
    carry, found = np.zeros((1, tracker.memory), F), []
    for reading, flag in zip(readings, seen, strict=True):
        carry, state = program.run(carry, np.array([[*(reading * flag), flag]], F))
        found.append(state[0])
    return np.array(found)


@pytest.mark.parametrize("name", TRACKERS)
def test_a_shot_that_was_seen_five_times_is_known_when_it_is_hidden(name):
    truth = flight(25, drag=name in WITH_DRAG)
    found = follow(TRACKERS[name], truth, [1] * 5 + [0] * 20)
    assert np.abs(found[4, :2] - truth[4]).max() < 2e-3
    assert np.abs(found[-1, :2] - truth[-1]).max() < 0.03
    assert np.isfinite(found).all()


@pytest.mark.parametrize("name", TRACKERS)
def test_nothing_is_claimed_before_the_first_reading(name):
    assert not follow(TRACKERS[name], np.zeros((3, 2)), [0, 0, 0]).any()


def test_differences_use_the_time_between_the_last_two_readings():
    truth = flight(12, drag=False)
    found = follow(Differences(), truth, [1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0])
    assert np.allclose(found[-1], [*truth[-1], *SPEED], atol=1e-4)


def test_least_squares_is_the_line_through_all_readings():
    rng = np.random.default_rng(0)
    readings = flight(20, drag=False) + 0.005 * rng.standard_normal((20, 2))
    seen = np.array([1] * 5 + [0] * 10 + [1] * 5)
    t = np.arange(20)
    fits = [np.polyfit(t[seen == 1], readings[seen == 1, axis], 1) for axis in (0, 1)]
    found = follow(LeastSquares(), readings, seen)
    assert np.allclose(found[-1, :2], [np.polyval(fit, 19) for fit in fits], atol=1e-4)
    assert np.allclose(found[-1, 2:], [fit[0] / 0.02 for fit in fits], atol=2e-3)


def test_noise_averages_out_in_a_kalman_filter_but_not_in_differences():
    rng = np.random.default_rng(1)
    errors = {name: [] for name in ("differences", "kalman")}
    for _ in range(20):
        readings = flight(10) + 0.005 * rng.standard_normal((10, 2))
        for name, found in errors.items():
            found.append(follow(TRACKERS[name], readings)[-1, 3] - SPEED[1])
    assert np.std(errors["kalman"]) < 0.4 * np.std(errors["differences"])


def test_one_false_detection_moves_a_kalman_filter_but_not_a_gated_one():
    readings = flight(8)
    false = readings.copy()
    false[4] += (0.4, -0.3)
    clean = follow(TRACKERS["kalman_gated"], readings, [1, 1, 1, 1, 0, 1, 1, 1])
    assert np.array_equal(follow(TRACKERS["kalman_gated"], false)[-1], clean[-1])
    assert np.abs(follow(TRACKERS["kalman"], false)[-1, :2] - readings[-1]).max() > 0.05


def test_a_track_that_began_with_a_false_detection_begins_anew():
    readings = flight(12)
    readings[0] = (1.0, 0.4)
    found = follow(TRACKERS["kalman_gated"], readings)
    assert np.abs(found[-1, :2] - readings[-1]).max() < 2e-3


def test_a_reading_that_repeats_the_last_says_nothing():
    readings = flight(15)
    stuck = readings.copy()
    stuck[5:] = stuck[4]
    hidden = follow(TRACKERS["kalman_gated"], readings, [1] * 5 + [0] * 10)
    assert np.array_equal(follow(TRACKERS["kalman_gated"], stuck), hidden)


def test_bayes_tells_twins_apart_under_noise_that_fools_a_kalman_filter():
    rng = np.random.default_rng(2)
    sides = dict.fromkeys(("kalman", "bayes"), 0)
    off = dict.fromkeys(sides, 0.0)
    for _ in range(20):
        readings = flight(5) + 0.005 * rng.standard_normal((5, 2))
        for name in sides:
            x, y, vx, vy = follow(TRACKERS[name], readings)[-1]
            crossing = y + vy / vx * (0.75 - x)
            sides[name] += crossing > 0
            off[name] += abs(crossing - (LAUNCH[1] + SPEED[1] / SPEED[0] * (0.75 - LAUNCH[0]))) / 20
    assert sides["bayes"] >= 18
    assert off["bayes"] < 0.6 * off["kalman"]
