"""How large a study must be: shots and training seeds needed to resolve a difference.

The paired difference of two policies, by training seed s and unit u, is split into components that vary with the
seed, with the unit, and with both (two-way crossed random effects, method of moments):

    Var(mean difference) = seed / S + unit / U + both / (S U)

More shots shrink the last two terms only, more seeds the first and the last; what neither can do is said as None.
Tests are normal ones, or with method "mrmc" t tests, which ask for more where few seeds decide.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from math import ceil, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np

from blindsave.evidence import student_t
from blindsave.evidence.saves import Saves


@dataclass(frozen=True)
class Components:
    """Variance components of a paired difference, per unit of chance, with the design they came from."""

    seed: float
    unit: float
    both: float
    seeds: int
    units: int
    shots_per_unit: float

    def standard_error(self, seeds: float, units: float) -> float:
        """Standard error of the mean difference in a design of this size."""
        return sqrt(self.seed / seeds + self.unit / units + self.both / (seeds * units))

    def df(self, seeds: int, units: float) -> float:
        """Degrees of freedom of the multi-reader analysis that a design of this size may expect."""
        if seeds == 1 or not (of_seeds := self.both + units * self.seed):
            return max(units - 1, 1)
        return (seeds - 1) * ((of_seeds + seeds * self.unit) / of_seeds) ** 2


@dataclass(frozen=True)
class Power:
    """The answer for one difference: sizes needed, and what the present design can resolve."""

    a: str
    b: str
    blackout: int
    difference: float
    shots_needed: int | None
    seeds_needed: int | None
    resolvable_now: float
    components: Components

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def components(differences: np.ndarray, shots_per_unit: float = 1.0) -> Components:
    """Split a table (training seeds, units) of paired differences into its variance components."""
    seeds, units = differences.shape
    by_seed, by_unit = differences.mean(axis=1), differences.mean(axis=0)
    rest = differences - by_seed[:, None] - by_unit[None, :] + differences.mean()
    if seeds == 1:  # one network each: the unit term holds everything that can be seen
        return Components(0.0, float(by_unit.var(ddof=1)), 0.0, seeds, units, shots_per_unit)
    both = float((rest**2).sum() / ((seeds - 1) * (units - 1)))
    seed = max(0.0, float(by_seed.var(ddof=1)) - both / units)
    unit = max(0.0, float(by_unit.var(ddof=1)) - both / seeds)
    return Components(seed, unit, both, seeds, units, shots_per_unit)


def power(
    saves: Saves,
    a: str,
    b: str,
    blackout: int,
    difference: float = 0.02,
    *,
    disturbance: str = "clean",
    level: float = 0.05,
    wanted: float = 0.8,
    method: str = "bootstrap",
) -> Power:
    """Sizes at which a true `difference` would be found with probability `wanted` in a two-sided test."""
    sizes = saves.unit_sizes()
    one, other = (saves.by_unit(name, blackout, disturbance) for name in (a, b))
    # Scaled so that the plain mean over units is the shot-weighted mean difference.
    table = (one - other) * (len(sizes) / sizes.sum())
    parts = components(table, float(sizes.sum() / len(sizes)))

    def resolvable(seeds: int, units: int) -> float:
        if method == "mrmc":
            df = parts.df(seeds, units)
            reach = sum(float(student_t.quantile(chance, df)) for chance in (1 - level / 2, wanted))
        else:
            reach = NormalDist().inv_cdf(1 - level / 2) + NormalDist().inv_cdf(wanted)
        return reach * parts.standard_error(seeds, units)

    target = difference * (1 + 1e-9)
    units = _fewest(1, lambda units: resolvable(parts.seeds, units) <= target)
    least = min(parts.seeds, 2) if method == "mrmc" else 1  # one seed alone cannot show how seeds vary
    seeds = _fewest(least, lambda seeds: resolvable(seeds, parts.units) <= target)
    return Power(
        a=a,
        b=b,
        blackout=blackout,
        difference=difference,
        shots_needed=None if units is None else ceil(units * parts.shots_per_unit),
        seeds_needed=seeds,
        resolvable_now=resolvable(parts.seeds, parts.units),
        components=parts,
    )


def _fewest(least: int, enough: Callable[[int], bool]) -> int | None:
    """Smallest whole number from `least` on that is enough; None where none below a thousand million is."""
    below, above = least - 1, least
    while not enough(above):
        below, above = above, 2 * above
        if above > 1e9:
            return None
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if enough(middle) else (middle, above)
    return above
