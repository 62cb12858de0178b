"""Intervals for few training seeds: the multi-reader multi-case analysis of diagnostic imaging.

There few readers judge the same cases; here few training seeds meet the same units (alias pairs and single shots).
Both are drawn by chance and crossed, so the mean over all of them varies as a two-way analysis of variance says, with
the degrees of freedom of Hillis, which fall to the number of seeds less one where the seeds decide. Closed forms:
nothing is resampled. Where a study has several teachers, students are nested in teachers, and what was drawn first is
the teacher: means over a teacher's students take the place of the seeds (docs/statistics.md derives it).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import ClassVar, NamedTuple

import numpy as np

from blindsave.errors import BadInput
from blindsave.evidence import student_t
from blindsave.evidence.intervals import LEVEL, MARGIN, TEST_LEVEL, Contrast, Equivalence, Interval, contrast
from blindsave.evidence.plan import METHODS
from blindsave.evidence.principal import Principal
from blindsave.evidence.resample import REPLICATES, principal_draws, replicate_rates
from blindsave.evidence.saves import Saves
from blindsave.evidence.strata import Cell, Stratified, groups

HOW = "multi-reader multi-case analysis"
CEILING = 0.95
"""Where both rates are this close to all or nothing, hardly any failure is left to show how results vary, and the t
tests call policies equivalent too often (`blindsave bench coverage`): there the bootstrap has to agree."""
ROUNDING = 1e-15
"""A variance below this (a standard error of 3e-8 of a rate) is zero but for rounding: counts of saves that vary at
all vary more."""


class Spread(NamedTuple):
    """Variance of a grand mean, and its degrees of freedom."""

    variance: np.ndarray
    df: np.ndarray


def spread(scores: np.ndarray) -> Spread:
    """How the mean of a table (..., training seeds, units) varies when both are drawn anew."""
    seeds, units = scores.shape[-2:]
    mean = scores.mean(axis=(-2, -1), keepdims=True)
    by_seed, by_unit = scores.mean(axis=-1, keepdims=True), scores.mean(axis=-2, keepdims=True)
    of_units = seeds * ((by_unit - mean) ** 2).sum(axis=(-2, -1)) / (units - 1)
    if seeds == 1:  # one network: only the shots were drawn
        return Spread(of_units / units, np.full(np.shape(of_units), units - 1.0))
    of_seeds = units * ((by_seed - mean) ** 2).sum(axis=(-2, -1)) / (seeds - 1)
    of_both = ((scores - by_seed - by_unit + mean) ** 2).sum(axis=(-2, -1)) / ((seeds - 1) * (units - 1))
    total = of_seeds + np.maximum(of_units - of_both, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        df = (seeds - 1) * (total / of_seeds) ** 2
    return Spread(total / (seeds * units), np.where(total > 0, df, seeds - 1.0))


def ends(estimate: np.ndarray, found: Spread, level: float = LEVEL) -> tuple[np.ndarray, np.ndarray]:
    """The t interval of a mean."""
    reach = student_t.quantile((1 + level) / 2, found.df) * np.sqrt(found.variance)
    return estimate - reach, estimate + reach


def rate_ends(rate: np.ndarray, found: Spread, units: int, level: float = LEVEL) -> tuple[np.ndarray, np.ndarray]:
    """The interval of a rate, on the logit scale, so that it stays between none and all.

    Where everything or nothing was saved there is no spread to see; the far end is then the rate at which as many
    independent units would just not be expected to agree (exact binomial).
    """
    inside = np.clip(rate, 1e-12, 1 - 1e-12)
    # Between none and all there may be no spread to see either: every seed saves as many shots, and no unit is harder
    # than chance would have it. Then, too, the width is that of as many independent units, each saved whole or not at
    # all. A unit's share of saves lies between 0 and 1, so this is the most that units can vary around such a rate.
    unseen = found.variance < ROUNDING
    variance = np.where(unseen, inside * (1 - inside) / units, found.variance)
    df = np.where(unseen, max(units - 1.0, 1.0), found.df)
    width = student_t.quantile((1 + level) / 2, df) * np.sqrt(variance) / (inside * (1 - inside))
    with np.errstate(over="ignore"):
        low, high = (1 / (1 + np.exp(-(np.log(inside / (1 - inside)) + way * width))) for way in (-1, 1))
    least = ((1 - level) / 2) ** (1 / units)
    low, high = np.where(rate >= 1, least, low), np.where(rate >= 1, 1.0, high)
    return np.where(rate <= 0, 0.0, low), np.where(rate <= 0, 1 - least, high)


def equivalence(estimate: float, found: Spread, margin: float = MARGIN, level: float = TEST_LEVEL) -> Equivalence:
    """Two one-sided t tests of "the difference is at least `margin`", each at `level`."""
    low, high = (float(end) for end in ends(np.asarray(estimate), found, 1 - 2 * level))
    p = _beyond(margin - abs(estimate), found)
    return Equivalence(margin, low, high, p, -margin < low and high < margin)


def at_the_ceiling(one: float, other: float) -> bool:
    """Whether both rates are so near to all (or nothing) that the bootstrap has to agree on an equivalence."""
    return min(one, other) >= CEILING or max(one, other) <= 1 - CEILING


def departures(saved: np.ndarray, sizes: np.ndarray) -> tuple[float, np.ndarray]:
    """A save rate, and how far each entry of its table (training seeds, units) departs from it; they add up to zero.

    A unit counts by its shots: the rate is saves over shots, not a mean of units, and this is its linear form.
    """
    rate = float(saved.sum() / (len(saved) * sizes.sum()))
    return rate, (saved - rate * sizes) / sizes.sum()


def rate(saves: Saves, cell: Cell, group: np.ndarray | None = None) -> Interval:
    """A policy's save rate with its interval."""
    point, apart = departures(saves.by_unit(*cell, group), saves.unit_sizes(group))
    table = _of_group(apart, saves, group)
    low, high = rate_ends(np.asarray(point), spread(table), table.shape[-1])
    return Interval(point, float(low), float(high))


def difference(also: Contrast, saves: Saves, one: Cell, other: Cell, group: np.ndarray | None = None) -> Contrast:
    """The same difference as the bootstrap's (`also`), with interval, p and equivalence of this method."""
    saved = [saves.by_unit(*cell, group) for cell in (one, other)]
    (rate_a, a), (rate_b, b) = (departures(table, saves.unit_sizes(group)) for table in saved)
    return _restated(also, (rate_a, rate_b), spread(_of_group(a - b, saves, group)), _differ(*saved))


def difference_of(
    names: tuple[str, str],
    one: np.ndarray,
    other: np.ndarray,
    sizes: np.ndarray,
    margin: float = MARGIN,
    replicates: int = REPLICATES,
) -> Contrast:
    """The difference of two rates, each given as counts (training seeds, units); `sizes` are shots per unit."""
    resampled = replicate_rates(principal_draws(0, len(one), len(sizes), replicates), [one, other], sizes)
    (rate_a, a), (rate_b, b) = departures(one, sizes), departures(other, sizes)
    also = contrast(names, 0, rate_a - rate_b, resampled[0] - resampled[1], margin=margin)
    return _restated(also, (rate_a, rate_b), spread((a - b) * len(sizes)), _differ(one, other))


@dataclass(frozen=True)
class MrmcPrincipal(Principal):
    """The principal analysis with these intervals; replicates are kept for the rule at the ceiling."""

    saves: Saves
    disturbance: str = "clean"

    @property
    def how(self) -> str:
        """How its intervals are made, for captions."""
        return HOW

    def rate(self, policy: str, blackout: int) -> Interval:
        """Save rate with its interval."""
        return rate(self.saves, (policy, blackout, self.disturbance))

    def difference(self, a: str, b: str, blackout: int, margin: float = MARGIN) -> Contrast:
        """Save rate of `a` minus that of `b` on the same shots."""
        also = super().difference(a, b, blackout, margin)
        kind = self.disturbance
        return difference(also, self.saves, (a, blackout, kind), (b, blackout, kind))


@dataclass(frozen=True)
class MrmcStratified(Stratified):
    """Groups of shots and noise with these intervals."""

    saves: Saves
    how: ClassVar[str] = HOW

    def rate(self, group: str, policy: str, blackout: int, disturbance: str = "clean") -> Interval:
        """Save rate of a policy within a group."""
        cell = (policy, blackout, disturbance)
        self._point(group, cell)
        return rate(self.saves, cell, groups(self.saves)[group])

    def _contrast(self, group: str, one: Cell, other: Cell, names: tuple[str, str], margin: float) -> Contrast:
        also = super()._contrast(group, one, other, names, margin)
        return difference(also, self.saves, one, other, groups(self.saves)[group])


def principal_by(method: str, whole: Principal, saves: Saves, disturbance: str = "clean") -> Principal:
    """The principal analysis by the method a plan names."""
    return MrmcPrincipal(**vars(whole), saves=saves, disturbance=disturbance) if _known(method) == "mrmc" else whole


def strata_by(method: str, found: Stratified, saves: Saves) -> Stratified:
    """The analysis of groups or noise by the method a plan names."""
    return MrmcStratified(**vars(found), saves=saves) if _known(method) == "mrmc" else found


def over_teachers(
    studies: Sequence[Saves],
    a: str,
    b: str,
    blackout: int,
    margin: float = MARGIN,
    replicates: int = REPLICATES,
    disturbance: str = "clean",
) -> Contrast:
    """A difference over the students of several teachers on the same shots, teachers drawn by chance too."""
    if len(studies) < 2 or any(one.shot_ids != studies[0].shot_ids for one in studies):
        raise BadInput("teachers are compared over the same shots, and there must be two of them at least")
    sizes = studies[0].unit_sizes()
    saved = [np.array([one.by_unit(name, blackout, disturbance).mean(axis=0) for one in studies]) for name in (a, b)]
    resampled = replicate_rates(principal_draws(blackout, len(studies), len(sizes), replicates), saved, sizes)
    (rate_a, one), (rate_b, other) = (departures(table, sizes) for table in saved)
    also = contrast((a, b), blackout, rate_a - rate_b, resampled[0] - resampled[1], margin=margin)
    return _restated(also, (rate_a, rate_b), spread((one - other) * len(sizes)), _differ(*saved))


def next_teacher(differences: Sequence[float], level: float = LEVEL) -> tuple[float, float]:
    """Where one more teacher's difference is to be expected, if those known and that one are drawn alike."""
    if len(differences) < 2:
        raise BadInput("what another teacher will do cannot be said from fewer than two")
    found = np.asarray(differences, float)
    reach = student_t.quantile((1 + level) / 2, np.asarray(len(found) - 1.0)) * found.std(ddof=1)
    reach = float(reach) * sqrt(1 + 1 / len(found))
    return float(found.mean() - reach), float(found.mean() + reach)


def _restated(also: Contrast, rates: tuple[float, float], found: Spread, differ: bool) -> Contrast:
    if differ and found.variance < ROUNDING:
        # Seeds that happen to agree in their totals, and units that vary no more than seeds and units together, leave a
        # variance of zero: the analysis of variance saw nothing, which is not certainty. The bootstrap sees the units.
        return also
    low, high = ends(np.asarray(also.estimate), found)
    decided = equivalence(also.estimate, found, also.equivalence.margin)
    if at_the_ceiling(*rates):
        both = decided.equivalent and also.equivalence.equivalent
        decided = replace(decided, p=max(decided.p, also.equivalence.p), equivalent=both)
    p = min(1.0, 2 * _beyond(abs(also.estimate), found))
    return replace(also, low=float(low), high=float(high), p=p, equivalence=decided)


def _beyond(distance: float, found: Spread) -> float:
    """Chance of a mean so far or farther on one side, if the truth were there."""
    if found.variance == 0:
        return 0.0 if distance > 0 else 1.0
    return float(student_t.cdf(-distance / sqrt(float(found.variance)), found.df))


def _differ(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two tables of counts differ anywhere; a single network's row stands for every seed."""
    return bool((one != other).any())


def _of_group(table: np.ndarray, saves: Saves, group: np.ndarray | None) -> np.ndarray:
    """The units that take part, scaled so that the plain mean over them is the mean over shots."""
    taking_part = saves.unit_sizes(group) > 0
    return table[:, taking_part] * np.count_nonzero(taking_part)


def _known(method: str) -> str:
    if method not in METHODS:
        raise BadInput(f"there is no statistical method '{method}'; methods: {', '.join(METHODS)}")
    return method
