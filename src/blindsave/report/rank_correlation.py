"""Rank correlation of a few points, with no more certainty than a few points have.

Spearman's coefficient: the correlation of ranks, ties sharing their mean rank. Its p is that of shuffled pairs: all of
them up to eight points, a fixed random sample beyond. Three points cannot give a p below 1/3 whatever they say, so the
smallest p within reach is stated too. The interval resamples points; with fewer than five, or all in perfect order, it
would pretend to know what it cannot, and there is none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from math import factorial

import numpy as np
from numpy.typing import NDArray

MOST_EXACT = 8
SHUFFLES = 20_000
FEWEST_FOR_INTERVAL = 5
REPLICATES = 10_000
SEED = 16303

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RankCorrelation:
    """Spearman's rho of `points` points; None where one of the two quantities does not vary."""

    points: int
    rho: float | None
    low: float | None = None
    high: float | None = None
    """95 % percentile interval over resampled points; None with fewer than five or a perfect order."""
    p: float | None = None
    """Of no association, two-sided, from shuffled pairs."""
    smallest_p: float | None = None
    """What p would be if both quantities had the same order, or opposite ones."""


def rank_correlation(x: Sequence[float], y: Sequence[float]) -> RankCorrelation:
    """How far two quantities have the same order."""
    a, b = np.asarray(x, float), np.asarray(y, float)
    count = len(a)
    if count < 3 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return RankCorrelation(count, None)
    ranks_a, ranks_b = ranks(a), ranks(b)
    rho = float(_correlation(ranks_a, ranks_b))
    spread = count >= FEWEST_FOR_INTERVAL and abs(rho) < 1 - 1e-12
    low, high = _interval(a, b) if spread else (None, None)
    return RankCorrelation(count, rho, low, high, _p(ranks_a, ranks_b, rho), _smallest_p(count))


def ranks(values: Array) -> Array:
    """Ranks along the last axis, from 1; ties share their mean rank."""
    below = (values[..., :, None] > values[..., None, :]).sum(-1)
    same = (values[..., :, None] == values[..., None, :]).sum(-1)
    return below + (same + 1) / 2


def _correlation(a: Array, b: Array) -> Array:
    """Pearson's coefficient along the last axis; not a number where something does not vary."""
    one, other = (v - v.mean(-1, keepdims=True) for v in (a, b))
    with np.errstate(invalid="ignore", divide="ignore"):
        return (one * other).sum(-1) / np.sqrt((one**2).sum(-1) * (other**2).sum(-1))


def _p(a: Array, b: Array, rho: float) -> float:
    """Share of shuffled pairs at least as far from none; the pairs as they are count as one of a random sample."""
    if len(a) <= MOST_EXACT:
        shuffled = _correlation(a, np.array(list(permutations(b))))
        return float((np.abs(shuffled) >= abs(rho) - 1e-12).mean())
    shuffled = _correlation(a, np.random.default_rng(SEED).permuted(np.tile(b, (SHUFFLES, 1)), axis=1))
    return float((np.count_nonzero(np.abs(shuffled) >= abs(rho) - 1e-12) + 1) / (SHUFFLES + 1))


def _smallest_p(count: int) -> float:
    return 2 / factorial(count) if count <= MOST_EXACT else 1 / (SHUFFLES + 1)


def _interval(a: Array, b: Array) -> tuple[float, float]:
    drawn = np.random.default_rng(SEED).integers(0, len(a), (REPLICATES, len(a)))
    found = _correlation(ranks(a[drawn]), ranks(b[drawn]))
    low, high = np.quantile(found[np.isfinite(found)], (0.025, 0.975))
    return float(low), float(high)
