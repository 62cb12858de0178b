"""Rank correlations of few points: SciPy's numbers, and no more certainty than there is."""

import numpy as np
import pytest
from scipy import stats

from blindsave.report.rank_correlation import rank_correlation, ranks


def test_ranks_share_the_mean_of_ties():
    np.testing.assert_array_equal(ranks(np.array([3.0, 1.0, 3.0, 2.0])), [3.5, 1.0, 3.5, 2.0])


@pytest.mark.parametrize("count", [4, 7, 11])
def test_rho_is_scipys(count):
    rng = np.random.default_rng(count)
    x, y = rng.normal(size=count), rng.integers(0, 4, count).astype(float)
    assert rank_correlation(x, y).rho == pytest.approx(stats.spearmanr(x, y).statistic)


def test_p_is_exact_for_few_points_and_near_it_for_more():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=6), rng.normal(size=6)
    exact = stats.permutation_test(
        (x,), lambda one: stats.spearmanr(one, y).statistic, permutation_type="pairings", n_resamples=np.inf
    )
    assert rank_correlation(x, y).p == pytest.approx(exact.pvalue)
    x, y = rng.normal(size=11), rng.normal(size=11)
    found = rank_correlation(x, y)
    assert found.p == pytest.approx(stats.spearmanr(x, y).pvalue, abs=0.03)
    assert found == rank_correlation(x, y)  # the shuffles are always the same


def test_three_points_in_perfect_order_prove_nothing():
    found = rank_correlation([1, 2, 3], [10, 20, 30])
    assert found.rho == 1.0 and found.p == found.smallest_p == pytest.approx(1 / 3)
    assert found.low is None and found.high is None


def test_an_interval_needs_five_points_and_holds_the_estimate():
    assert rank_correlation(range(4), [1, 3, 2, 4]).low is None
    assert rank_correlation(range(7), range(7)).low is None  # every resample would be perfect, too
    rng = np.random.default_rng(0)
    x = rng.normal(size=10)
    found = rank_correlation(x, x + rng.normal(size=10))
    assert found.rho is not None and found.low is not None and found.high is not None
    assert -1 <= found.low < found.rho < found.high <= 1 and found.high - found.low > 0.3


def test_there_is_no_correlation_with_what_does_not_vary_or_of_two_points():
    assert rank_correlation([1, 1, 1, 1], [1, 2, 3, 4]).rho is None
    found = rank_correlation([1, 2], [1, 2])
    assert found.points == 2 and found.rho is None and found.p is None
