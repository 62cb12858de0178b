"""The paired episode bootstrap reproduces the published memory tests from their counts; McNemar is exact."""

import numpy as np
import pytest
from scipy import stats
from synthetic_tables import SEEDS, shot_rows, table

from blindsave.errors import BadInput
from blindsave.evidence.paired import CAUSAL_SEED, MEMORYLESS_SEED, exact_two_sided, mcnemar, paired
from blindsave.evidence.saves import Saves, saves

STEP = 100 / 225
# length: (saved by the teacher only, saved by PPO only, both, published interval in points)
TEACHER_VERSUS_PPO = {
    0: (20, 0, 204, (5.3, 12.9)),
    5: (42, 0, 181, (13.8, 24.0)),
    10: (83, 1, 138, (30.2, 43.1)),
    15: (181, 1, 39, (74.2, 85.3)),
    20: (145, 2, 73, (56.9, 70.2)),
}
# length: (shots the reset lost, published interval in points); nothing was saved by the reset alone here
RESET = {0: (0, (0, 0)), 5: (94, (35.6, 48.4))}


def arranged(counts: dict[int, tuple[int, int, int]], order: int) -> Saves:
    """Two seedless policies with the given (only a, only b, both) at every length, over shots in some order."""
    members = shot_rows()
    place = {shot.shot_id: i for i, shot in enumerate(members)}
    shuffled = {length: np.random.default_rng(order + length).permutation(225) for length in counts}

    def decide(policy, _, shot, length, __):
        only_a, only_b, both = counts[length]
        at = shuffled[length][place[shot.shot_id]]
        return at < only_a + both if policy == "a" else only_a <= at < only_a + both + only_b

    return saves(table({"a": (0,), "b": (0,)}, decide, blackouts=tuple(counts), members=members))


@pytest.mark.parametrize("order", [1, 2, 3])
def test_the_published_memoryless_intervals_follow_from_their_counts(order):
    """Which shots were lost is not published; whatever they were, the interval moves by one shot at most."""
    dense = arranged({length: row[:3] for length, row in TEACHER_VERSUS_PPO.items()}, order)
    for found in paired(dense, "a", "b", MEMORYLESS_SEED):
        only_a, only_b, _, (low, high) = TEACHER_VERSUS_PPO[found.blackout]
        assert found.estimate == (only_a - only_b) / 225
        assert abs(100 * found.low - low) <= STEP + 0.051
        assert abs(100 * found.high - high) <= STEP + 0.051


@pytest.mark.parametrize("order", [1, 2])
def test_the_published_reset_intervals_follow_from_their_counts(order):
    dense = arranged({length: (lost, 0, 225 - lost) for length, (lost, _) in RESET.items()}, order)
    for found in paired(dense, "a", "b", CAUSAL_SEED):
        low, high = RESET[found.blackout][1]
        assert abs(100 * found.low - low) <= STEP + 0.051
        assert abs(100 * found.high - high) <= STEP + 0.051


def test_replicates_equal_a_slow_resampling_in_shot_order():
    dense = arranged({0: (30, 5, 150), 5: (60, 2, 120)}, 4)
    rng = np.random.default_rng(99)
    for found in paired(dense, "a", "b", 99, replicates=200):
        difference = dense.at("a", found.blackout)[0].astype(int) - dense.at("b", found.blackout)[0]
        means = [difference[rng.integers(0, 225, size=225)].mean() for _ in range(200)]
        assert (found.low, found.high) == pytest.approx(tuple(np.quantile(means, [0.025, 0.975])), abs=1e-12)


def test_families_of_several_seeds_are_refused():
    dense = saves(table({"a": SEEDS, "b": (0,)}, lambda *_: True))
    with pytest.raises(BadInput, match="a has several training seeds"):
        paired(dense, "a", "b", 1)


@pytest.mark.parametrize(("b", "c"), [(0, 0), (1, 0), (20, 0), (83, 1), (145, 2), (7, 9), (12, 12)])
def test_the_exact_p_is_that_of_the_binomial_test(b, c):
    expected = 1.0 if b == c else stats.binomtest(b, b + c).pvalue
    assert exact_two_sided(b, c) == pytest.approx(expected, rel=1e-9)
    assert exact_two_sided(b, c) == exact_two_sided(c, b)


def test_mcnemar_counts_every_shot_once_per_seed():
    place = {shot: i for i, shot in enumerate(shot_rows())}
    dense = saves(table({"a": SEEDS, "t": (0,)}, lambda p, s, shot, *_: p == "t" or (place[shot] + s) % 7 > 1))
    rows = mcnemar(dense, "t", "a", 20)
    assert [row.training_seed for row in rows] == list(SEEDS)
    for row, saved in zip(rows, dense.at("a", 20), strict=True):
        assert (row.only_a, row.only_b, row.both) == (225 - saved.sum(), 0, saved.sum())
        assert row.only_a + row.only_b + row.both + row.neither == 225
