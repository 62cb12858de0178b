import numpy as np
import pytest

from blindsave.diagnostics import probe_fit as probe
from blindsave.diagnostics.probe_fit import Hidden, clock_errors, errors, fit, hidden_moments, ridge
from blindsave.policies.scripted import FIXED_CENTRE
from blindsave.task.shots import shots

MOTION_MM = np.array([[1000.0, 0.0, 20.0, 0.0], [0.0, 1000.0, 0.0, 20.0]])


class DeadReckoner:
    """Carries the last two seen places and how long ago that was, all it takes to know where the puck is."""

    name = "dead_reckoner"

    def initial(self, n):
        return np.zeros((n, 4), np.float32)

    def step(self, carry, obs):
        place, seen = obs[:, 16:18], obs[:, 18:19] > 0.5
        believed = np.where(seen, place, carry[:, :2] + carry[:, 2:])
        speed = np.where(seen, place - carry[:, :2], carry[:, 2:])
        return np.concatenate([believed, speed], 1).astype(np.float32), np.zeros((len(obs), 2), np.float32)


def moments(rows: int, seed: int, noise: float = 0.0) -> Hidden:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 4)).astype(np.float32)
    y = x @ MOTION_MM.T + [5.0, -7.0] + noise * rng.normal(size=(rows, 2))
    return Hidden(x, y, rng.integers(1, 4, rows), rng.integers(0, 20, rows))


def test_ridge_without_penalty_is_least_squares():
    data = moments(200, 0, noise=30.0)
    weight, bias = ridge(data.features.astype(float), data.puck_mm, 0.0)
    plain, *_ = np.linalg.lstsq(np.c_[data.features, np.ones(200)], data.puck_mm, rcond=None)
    np.testing.assert_allclose(weight, plain[:4].T, rtol=1e-5)
    np.testing.assert_allclose(bias, plain[4], rtol=1e-4)


def test_a_penalty_shrinks_and_a_dead_feature_gets_no_weight():
    data = moments(200, 0)
    x = np.c_[data.features.astype(float), np.full(200, 3.0)]
    small, large = (np.abs(ridge(x, data.puck_mm, penalty)[0]) for penalty in (1e-8, 1.0))
    assert (large[:, :4].sum() < small[:, :4].sum()) and (small[:, 4] == 0).all()


def test_a_planted_map_is_found():
    weight, bias, _ = fit(moments(2000, 1))
    np.testing.assert_allclose(weight, MOTION_MM, atol=0.05)
    np.testing.assert_allclose(bias, [5.0, -7.0], atol=0.05)


def test_the_penalty_is_larger_where_there_is_only_noise():
    rng = np.random.default_rng(5)
    noise = Hidden(
        rng.normal(size=(120, 60)).astype(np.float32), rng.normal(size=(120, 2)), np.ones(120, int),
        np.repeat(np.arange(30), 4),
    )  # fmt: skip
    assert fit(noise)[2] == max(probe.PENALTIES)
    assert fit(moments(2000, 1))[2] < 1e-3


def test_errors_are_distances_by_hidden_time():
    data = Hidden(np.zeros((3, 1), np.float32), np.zeros((3, 2)), np.array([1, 1, 2]), np.arange(3))
    found = errors(np.array([[3.0, 4.0], [0.0, 1.0], [6.0, 8.0]]), data)
    assert found["mean_mm"] == pytest.approx(16 / 3) and found["median_mm"] == 5 and found["moments"] == 3
    assert [(row["hidden_ms"], row["moments"], row["mean_mm"]) for row in found["by_time"]] == [(20, 2, 3), (40, 1, 10)]
    assert found["by_time"][0]["lateral_mm"] == 2.5


def test_the_clock_guesses_the_mean_place_of_its_time():
    learn = Hidden(np.zeros((4, 1), np.float32), np.array([[0, 0], [2, 0], [9, 9], [9, 9]], float), np.array([1, 1, 2, 2]), np.arange(4))  # noqa: E501 # fmt: skip
    judge = Hidden(np.zeros((2, 1), np.float32), np.array([[1, 3], [9, 9]], float), np.array([1, 2]), np.arange(2))
    assert [row["mean_mm"] for row in clock_errors(learn, judge)["by_time"]] == [3.0, 0.0]


def test_moments_are_hidden_untouched_and_belong_to_their_shots():
    chosen = shots("validation")[:8]
    found = hidden_moments(FIXED_CENTRE, chosen, blackout=6)
    assert len(found.puck_mm) == 8 * 6 and found.features.shape == (48, 19)
    assert set(found.hidden_steps.tolist()) == set(range(1, 7))
    assert (found.features[:, 16:] == 0).all(), "the observation shows no puck"
    units = len({shot.unit for shot in chosen})
    assert set(found.unit.tolist()) == set(range(units))
    assert (np.abs(found.puck_mm) < [974, 519]).all()


def test_a_memory_that_reckons_beats_the_clock_and_a_blank_one_does_not():
    train, judge = shots("train")[:60], shots("validation")[:30]
    reckoner = probe.fit_probe("reckoner", "", DeadReckoner(), train, judge).figures
    blank = probe.fit_probe("blank", "", FIXED_CENTRE, train, judge).figures
    assert reckoner["reads"] == "carry" and blank["reads"] == "observation"
    assert reckoner["mean_mm"] < 15 < 40 < blank["mean_mm"]
    assert reckoner["clock"]["mean_mm"] == pytest.approx(blank["clock"]["mean_mm"], rel=0.05)


def test_fitting_twice_gives_the_same_bits():
    train, judge = shots("train")[:30], shots("validation")[:10]
    one, two = (probe.fit_probe("r", "", DeadReckoner(), train, judge, threads=threads) for threads in (1, 2))
    assert one.weight.tobytes() == two.weight.tobytes() and one.figures == two.figures
