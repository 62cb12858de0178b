"""How large a study must be: shots and training seeds needed to resolve a difference.

The paired difference of two policies, by training seed s and unit u, is split into components that vary with the
seed, with the unit, and with both (two-way crossed random effects, method of moments):

    Var(mean difference) = seed / S + unit / U + both / (S U)

More shots shrink the last two terms only, more seeds the first and the last; what neither can do is said as None.
"""

from dataclasses import asdict, dataclass
from math import ceil, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np

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
) -> Power:
    """Sizes at which a true `difference` would be found with probability `wanted` in a two-sided test."""
    sizes = saves.unit_sizes()
    one, other = (saves.by_unit(name, blackout, disturbance) for name in (a, b))
    # Scaled so that the plain mean over units is the shot-weighted mean difference.
    table = (one - other) * (len(sizes) / sizes.sum())
    parts = components(table, float(sizes.sum() / len(sizes)))
    normal = NormalDist()
    reach = normal.inv_cdf(1 - level / 2) + normal.inv_cdf(wanted)
    target = (difference / reach) ** 2
    units = _needed(parts.unit + parts.both / parts.seeds, target - parts.seed / parts.seeds)
    seeds = _needed(parts.seed + parts.both / parts.units, target - parts.unit / parts.units)
    return Power(
        a=a,
        b=b,
        blackout=blackout,
        difference=difference,
        shots_needed=None if units is None else ceil(units * parts.shots_per_unit),
        seeds_needed=seeds,
        resolvable_now=reach * parts.standard_error(parts.seeds, parts.units),
        components=parts,
    )


def _needed(variance: float, allowed: float) -> int | None:
    """Smallest whole n with variance / n <= allowed; None where no n suffices."""
    if allowed <= 0:
        return None
    return max(1, ceil(variance / allowed - 1e-9))
