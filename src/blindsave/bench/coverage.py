"""Check the coverage of the intervals. Both methods on synthetic studies whose truth is known.

A synthetic study has the design of the real one (training seeds x alias pairs and single shots). A shot is saved iff
mean + seed effect + unit effect + (seed, unit) effect + shot noise > 0, all normal, so that the true save rate is
known in closed form. A 95 % interval should contain it in 95 of 100 studies; two policies whose true difference is
exactly the margin should be called equivalent in at most 5 of 100, and equal ones as often as possible.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from statistics import NormalDist
from typing import Any, Protocol

import numpy as np

from blindsave.evidence import mrmc
from blindsave.evidence.intervals import LEVEL, MARGIN, TEST_LEVEL
from blindsave.evidence.resample import Draws, counts, replicate_rates

SIZES = np.array([2.0] * 90 + [1.0] * 45)


class Drawn(Protocol):
    """Two families of which studies can be drawn."""

    @property
    def seeds(self) -> int:
        """Training seeds of a study."""
        ...

    def studies(self, rng: np.random.Generator, number: int) -> np.ndarray:
        """Save counts (family, study, seed, unit) of new studies, in the order of `SIZES`."""
        ...


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

    def studies(self, rng: np.random.Generator, number: int) -> np.ndarray:
        """As declared: synthetic ones."""
        return simulate(self, rng, number)

    def apart(self, difference: float) -> "Population":
        """The same population with another true difference."""
        return replace(self, rate_b=self.rate_a - difference)


KINDS = (
    Population("seeds and units matter", 0.85, 0.80, seed_sd=0.2, unit_sd=0.8, both_sd=0.2),
    Population("units dominate", 0.90, 0.86, seed_sd=0.08, unit_sd=1.2, both_sd=0.3),
    Population("seeds dominate", 0.80, 0.70, seed_sd=0.6, unit_sd=0.3, both_sd=0.1),
    Population("identical policies", 0.90, 0.90, seed_sd=0.15, unit_sd=0.8, both_sd=0.2),
    Population("ceiling", 0.97, 0.96, seed_sd=0.15, unit_sd=1.2, both_sd=0.3),
    Population("few hard shots", 0.985, 0.975, seed_sd=0.05, unit_sd=2.0, both_sd=0.1),
)
"""The last is beyond what either method can do: a handful of shots holds all failures (docs/statistics.md)."""
POPULATIONS = tuple(replace(kind, seeds=seeds) for kind in KINDS for seeds in (5, 10, 20))


def coverage(
    population: Population, studies: int = 2000, replicates: int = 1000, seed: int = 20261107
) -> dict[str, dict[str, float]]:
    """By method: shares of studies, of intervals that hold the truth and of equivalence found.

    `rate` and `difference` are held by their intervals; equivalence is found at a true difference of the margin
    (`size`) and at none (`power`).
    """
    rng = np.random.default_rng(seed)
    truth = np.array([population.rate_a, population.rate_a - population.rate_b])[:, None]
    found: dict[str, dict[str, float]] = {method: {} for method in mrmc.METHODS}
    for one in blocks(population, rng, studies, replicates):
        for method, (low, high) in one.intervals().items():
            held = ((low <= truth) & (truth <= high)).sum(axis=1) / studies
            wide = (high - low).sum(axis=1) / studies
            for name, share, width in zip(("rate", "difference"), held, wide, strict=True):
                _add(found[method], name, share)
                _add(found[method], f"width_{name}", width)
    for name, difference in (("size", MARGIN), ("power", 0.0)):
        for one in blocks(population.apart(difference), rng, studies, replicates):
            for method, called in one.equivalent().items():
                _add(found[method], name, called.sum() / studies)
    return found


def describe(population: Population, studies: int, replicates: int) -> dict[str, Any]:
    """A population with what was found, as plain values."""
    return asdict(population) | coverage(population, studies, replicates)


@dataclass(frozen=True)
class Block:
    """Some synthetic studies: their tables of saves, and bootstrap rates of both families."""

    saved: np.ndarray
    """(family, study, seed, unit)."""
    resampled: np.ndarray
    """(family, study, replicate)."""

    @property
    def rates(self) -> np.ndarray:
        """(family, study)."""
        return self.saved.sum(axis=(2, 3)) / (self.saved.shape[2] * SIZES.sum())

    def intervals(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Both ends by (rate of the first family, difference) and study."""
        samples = np.stack([self.resampled[0], self.resampled[0] - self.resampled[1]])
        low, high = np.quantile(samples, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=2)
        rate, apart = self.rates[0], self._departures()
        ends = (
            mrmc.rate_ends(rate, mrmc.spread(apart[0]), len(SIZES)),
            mrmc.ends(rate - self.rates[1], mrmc.spread(apart[0] - apart[1])),
        )
        return {"bootstrap": (low, high), "mrmc": (np.stack([e[0] for e in ends]), np.stack([e[1] for e in ends]))}

    def equivalent(self) -> dict[str, np.ndarray]:
        """Which studies call the two families equivalent."""
        apart = self._departures()
        ways = {
            "bootstrap": np.quantile(self.resampled[0] - self.resampled[1], [TEST_LEVEL, 1 - TEST_LEVEL], axis=1),
            "mrmc": mrmc.ends(self.rates[0] - self.rates[1], mrmc.spread(apart[0] - apart[1]), 1 - 2 * TEST_LEVEL),
        }
        called = {method: (low > -MARGIN) & (high < MARGIN) for method, (low, high) in ways.items()}
        ceiling = np.array([mrmc.at_the_ceiling(a, b) for a, b in self.rates.T])
        return called | {"mrmc": called["mrmc"] & (~ceiling | called["bootstrap"])}

    def _departures(self) -> np.ndarray:
        return (self.saved - self.rates[:, :, None, None] * SIZES) * (len(SIZES) / SIZES.sum())


def blocks(
    population: Drawn, rng: np.random.Generator, studies: int, replicates: int, rows: int = 2000
) -> Iterator[Block]:
    """Draws are renewed for every block of studies: sharing them is what the study does, and costs no validity."""
    seeds, units = population.seeds, len(SIZES)
    block = max(1, rows // seeds)
    for start in range(0, studies, block):
        n = min(block, studies - start)
        saved = population.studies(rng, n)
        draws = Draws(
            counts(rng.integers(0, seeds, (replicates, seeds)), seeds),
            counts(rng.integers(0, units, (replicates, units)), units),
        )
        rates = replicate_rates(draws, [*saved[0], *saved[1]], SIZES).reshape(2, n, replicates)
        yield Block(saved, rates)


def simulate(population: Population, rng: np.random.Generator, studies: int) -> np.ndarray:
    """Save counts (family, study, seed, unit) of two families that share hard shots, not training luck."""
    shape = (studies, population.seeds, len(SIZES))
    unit = population.unit_sd * rng.standard_normal((studies, 1, len(SIZES)))
    saved = []
    for threshold in population.thresholds():
        seed = population.seed_sd * rng.standard_normal((studies, population.seeds, 1))
        latent = threshold + seed + unit + population.both_sd * rng.standard_normal(shape)
        first = latent + rng.standard_normal(shape) > 0
        second = (latent + rng.standard_normal(shape) > 0) & (SIZES == 2)
        saved.append(first.astype(float) + second)
    return np.stack(saved)


def _add(found: dict[str, float], name: str, value: float) -> None:
    found[name] = found.get(name, 0.0) + float(value)
