"""Intervals, p-values, equivalence and multiplicity: what is read off bootstrap replicates."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

LEVEL = 0.95
TEST_LEVEL = 0.05
MARGIN = 0.02


@dataclass(frozen=True)
class Interval:
    """A point estimate (the raw mean) with its pointwise percentile interval; rates are fractions of one."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class Equivalence:
    """Two one-sided tests against ±margin, by bootstrap: equivalent iff the 90 % interval lies strictly inside."""

    margin: float
    low: float
    high: float
    p: float
    equivalent: bool


@dataclass(frozen=True)
class Contrast:
    """A paired difference of two policies' save rates (or of one policy under two conditions)."""

    a: str
    b: str
    blackout: int
    estimate: float
    low: float
    high: float
    p: float
    equivalence: Equivalence
    disturbance: str = "clean"
    group: str = "all"
    p_holm: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def interval(estimate: float, replicates: np.ndarray, level: float = LEVEL) -> Interval:
    """Percentile interval with NumPy's linear interpolation."""
    low, high = np.quantile(replicates, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(estimate), float(low), float(high))


def two_sided_p(replicates: np.ndarray) -> float:
    """Bootstrap p of "no difference": twice the smaller tail at zero, never below 2 / (B + 1)."""
    tail = min(np.count_nonzero(replicates <= 0), np.count_nonzero(replicates >= 0))
    return min(1.0, 2 * (tail + 1) / (len(replicates) + 1))


def equivalence(replicates: np.ndarray, margin: float = MARGIN, level: float = TEST_LEVEL) -> Equivalence:
    """Two one-sided bootstrap tests of "the difference is at least `margin`", each at `level`."""
    low, high = np.quantile(replicates, [level, 1 - level])
    outside = max(np.count_nonzero(replicates <= -margin), np.count_nonzero(replicates >= margin))
    p = (outside + 1) / (len(replicates) + 1)
    return Equivalence(margin, float(low), float(high), p, bool(-margin < low and high < margin))


def contrast(
    names: tuple[str, str],
    blackout: int,
    estimate: float,
    differences: np.ndarray,
    *,
    margin: float = MARGIN,
    disturbance: str = "clean",
    group: str = "all",
) -> Contrast:
    """Everything said of one difference, from its replicates."""
    span = interval(estimate, differences)
    return Contrast(
        a=names[0],
        b=names[1],
        blackout=blackout,
        estimate=span.estimate,
        low=span.low,
        high=span.high,
        p=two_sided_p(differences),
        equivalence=equivalence(differences, margin),
        disturbance=disturbance,
        group=group,
    )


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjusted p-values, in the order given."""
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = highest
    return adjusted


def adjust(contrasts: Iterable[Contrast]) -> list[Contrast]:
    """Give every contrast of one planned set its Holm-adjusted p, beside the pointwise interval."""
    members = list(contrasts)
    adjusted = holm([member.p for member in members])
    return [replace(member, p_holm=p) for member, p in zip(members, adjusted, strict=True)]
