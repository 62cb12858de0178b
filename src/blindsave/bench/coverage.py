"""Do the intervals keep their word? Coverage of the principal bootstrap on synthetic clustered studies.

A synthetic study has the design of the real one (training seeds x alias pairs and single shots). A shot is saved iff
mean + seed effect + unit effect + (seed, unit) effect + shot noise > 0, all normal, so that the true save rate is
known in closed form. The interval should contain it in 95 of 100 studies.
"""

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from blindsave.evidence.intervals import LEVEL
from blindsave.evidence.resample import Draws, counts, replicate_rates


@dataclass(frozen=True)
class Population:
    """Standard deviations of the effects (shot noise has 1) and the true rates of two paired families."""

    name: str
    rate_a: float
    rate_b: float
    seed_sd: float
    unit_sd: float
    both_sd: float
    seeds: int = 5

    def thresholds(self) -> list[float]:
        """Latent means at which the marginal save rates are exactly the stated ones."""
        spread = (1 + self.seed_sd**2 + self.unit_sd**2 + self.both_sd**2) ** 0.5
        return [NormalDist().inv_cdf(rate) * spread for rate in (self.rate_a, self.rate_b)]


# The first is what the bar of 93 to 97 % is held against. The others show the limits of the method: cautious where
# the noise of single episodes dominates, too narrow where five training seeds decide, and cured by more seeds.
POPULATIONS = (
    Population("seeds and units matter", 0.85, 0.80, seed_sd=0.2, unit_sd=0.8, both_sd=0.2),
    Population("units dominate", 0.90, 0.86, seed_sd=0.08, unit_sd=1.2, both_sd=0.3),
    Population("seeds dominate", 0.80, 0.70, seed_sd=0.6, unit_sd=0.3, both_sd=0.1),
    Population("seeds dominate, twenty of them", 0.80, 0.70, seed_sd=0.6, unit_sd=0.3, both_sd=0.1, seeds=20),
)
SIZES = np.array([2] * 90 + [1] * 45)


def coverage(
    population: Population, studies: int = 2000, replicates: int = 1000, seed: int = 20261107, block: int = 250
) -> dict[str, Any]:
    """Share of synthetic studies whose interval holds the truth, for a rate and for a paired difference.

    Draws are renewed for every block of studies: sharing them is what the study does, and costs no validity.
    """
    rng = np.random.default_rng(seed)
    truth = np.array([population.rate_a, population.rate_a - population.rate_b])
    inside = np.zeros(2)
    width = np.zeros(2)
    for start in range(0, studies, block):
        n = min(block, studies - start)
        low, high = _intervals(population, rng, n, replicates)
        inside += ((low <= truth[:, None]) & (truth[:, None] <= high)).sum(axis=1)
        width += (high - low).sum(axis=1)
    share = inside / studies
    return {
        "population": population.name,
        "studies": studies,
        "replicates": replicates,
        "seeds": population.seeds,
        "rate": float(share[0]),
        "difference": float(share[1]),
        "standard_error": float(np.sqrt(LEVEL * (1 - LEVEL) / studies)),
        "mean_width_rate": float(width[0] / studies),
        "mean_width_difference": float(width[1] / studies),
    }


def _intervals(
    population: Population, rng: np.random.Generator, studies: int, replicates: int
) -> tuple[np.ndarray, np.ndarray]:
    """Interval ends (rate of a, difference) x studies of a block of synthetic studies."""
    units = len(SIZES)
    a, b = _simulate(population, rng, studies)
    draws = Draws(
        counts(rng.integers(0, population.seeds, (replicates, population.seeds)), population.seeds),
        counts(rng.integers(0, units, (replicates, units)), units),
    )
    rates = replicate_rates(draws, [*a, *b], SIZES.astype(float)).reshape(2, studies, replicates)
    samples = np.stack([rates[0], rates[0] - rates[1]])
    low, high = np.quantile(samples, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=2)
    return low, high


def _simulate(population: Population, rng: np.random.Generator, studies: int) -> tuple[np.ndarray, np.ndarray]:
    """Save counts (study, seed, unit) of two families that share hard shots, not training luck."""
    shape = (studies, population.seeds, len(SIZES))
    unit = population.unit_sd * rng.standard_normal((studies, 1, len(SIZES)))
    saved = []
    for threshold in population.thresholds():
        seed = population.seed_sd * rng.standard_normal((studies, population.seeds, 1))
        latent = threshold + seed + unit + population.both_sd * rng.standard_normal(shape)
        first = latent + rng.standard_normal(shape) > 0
        second = (latent + rng.standard_normal(shape) > 0) & (SIZES == 2)
        saved.append(first.astype(float) + second)
    return saved[0], saved[1]
