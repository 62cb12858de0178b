"""Bootstrap draws, as weights: how often each training seed and each unit occurs in each replicate.

Every interval of the study comes from one formula, `replicate_rates`, under one of these draws. Draws depend on a
seed and on the sizes of the design alone, never on results, so all policies share them: that is what makes
differences paired. The order of calls to the generator is part of the published analysis and must not change.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from blindsave.evidence.saves import Saves

REPLICATES = 10_000
PRINCIPAL_SEED = 74303
SUBGROUP_SEED = 9302026
NOISE_SEED = 29302026


class Draws(NamedTuple):
    """Weights of B replicates: `seeds` (B, training seeds) and `units` (B, units), whole numbers as floats."""

    seeds: np.ndarray
    units: np.ndarray


def principal_draws(blackout: int, seeds: int, units: int, replicates: int = REPLICATES) -> Draws:
    """Unstratified two-level draws of one blackout length: training seeds first, then units."""
    rng = np.random.default_rng(PRINCIPAL_SEED + blackout)
    seed_draws = rng.integers(0, max(seeds, 1), size=(replicates, max(seeds, 1)))
    unit_draws = rng.integers(0, units, size=(replicates, units))
    return Draws(counts(seed_draws, max(seeds, 1)), counts(unit_draws, units))


def stratified_draws(saves: Saves, seed: int, replicates: int = REPLICATES) -> Draws:
    """Draws that keep the number of units in every stratum; shared by all groups and conditions."""
    rng = np.random.default_rng(seed)
    seeds = max(len(saves.training_seeds()), 1)
    seed_weights = rng.multinomial(seeds, np.full(seeds, 1 / seeds), size=replicates)
    unit_weights = np.zeros((replicates, len(saves.units)))
    for members in strata(saves).values():
        n = len(members)
        unit_weights[:, members] = rng.multinomial(n, np.full(n, 1 / n), size=replicates)
    return Draws(seed_weights.astype(float), unit_weights)


def strata(saves: Saves) -> Mapping[str, np.ndarray]:
    """Unit indices of every stratum, in name order: alias families together, support shots by target."""
    names = np.empty(len(saves.units), object)
    for alias, target, unit in zip(saves.is_alias, saves.target_regions, saves.unit_of, strict=True):
        names[unit] = "alias" if alias else f"support_{target}"
    return {name: np.flatnonzero(names == name) for name in sorted(set(names))}


def counts(draws: np.ndarray, categories: int) -> np.ndarray:
    """Turn draws (B, n) of category indices into weights (B, categories)."""
    offset = np.arange(len(draws))[:, None] * categories
    flat = np.bincount((draws + offset).ravel(), minlength=len(draws) * categories)
    return flat.reshape(len(draws), categories).astype(float)


def replicate_rates(draws: Draws, saved: Sequence[np.ndarray], sizes: np.ndarray) -> np.ndarray:
    """Save rates of every replicate: (len(saved), B).

    `saved` holds one array (training seeds, units) of save counts per policy; one with a single row has no seed
    level and is drawn over units alone. The rate is a ratio of sums: drawn saves over drawn shots. Sums of small
    whole numbers are exact in floating point, so the result does not depend on the order of summation.
    """
    shots = draws.units @ sizes
    per_row = draws.units @ np.concatenate(saved).T
    rates = np.empty((len(saved), len(shots)))
    start = 0
    for index, block in enumerate(saved):
        rows = per_row[:, start : start + len(block)]
        weights = draws.seeds if len(block) == draws.seeds.shape[1] else np.ones((1, 1))
        rates[index] = (rows * weights).sum(axis=1) / (weights.sum(axis=1) * shots)
        start += len(block)
    return rates
