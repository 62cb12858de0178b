"""How studies of few seeds and shots would have come out: drawn again and again from one with many.

The students and shots of the large study are taken as everybody there is, so its difference is the truth, and how often
the intervals of small studies hold it is counted, not modelled. Seeds and shots are drawn with replacement, as chance
draws them from a world of which these are a picture.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from blindsave.bench.coverage import SIZES, blocks
from blindsave.errors import BadInput
from blindsave.evidence.mrmc import METHODS
from blindsave.evidence.saves import Saves

PAIRS = int((SIZES == 2).sum())


@dataclass(frozen=True)
class Played:
    """Two families as they were really played; implements `Drawn`."""

    saved: np.ndarray
    """Saves (family, training seed, unit)."""
    sizes: np.ndarray
    """Shots of each unit: one or two."""
    seeds: int
    """Training seeds of the small studies."""

    @property
    def difference(self) -> float:
        """What is true here: the first family's rate less the second's."""
        rates = self.saved.sum(axis=(1, 2)) / (self.saved.shape[1] * self.sizes.sum())
        return float(rates[0] - rates[1])

    def studies(self, rng: np.random.Generator, number: int) -> np.ndarray:
        """As declared: families share seeds and shots, as they do in a study."""
        pairs, singles = (np.flatnonzero(self.sizes == size) for size in (2, 1))
        chosen = [rng.choice(pairs, (number, PAIRS)), rng.choice(singles, (number, len(SIZES) - PAIRS))]
        seeds = rng.integers(0, self.saved.shape[1], (number, self.seeds))
        return self.saved[:, seeds[:, :, None], np.concatenate(chosen, axis=1)[:, None, :]]


def played(held: Saves, a: str, b: str, blackout: int, seeds: int) -> Played:
    """Two families of a table; it must have more seeds than the small studies, and shots of both kinds."""
    tallies, sizes = [held.by_unit(name, blackout) for name in (a, b)], held.unit_sizes()
    if held.seeds[a] != held.seeds[b]:
        raise BadInput(f"{a} and {b} have different training seeds and cannot be paired")
    saved = np.stack(tallies)
    if not 2 <= seeds < saved.shape[1]:
        raise BadInput(f"small studies need 2 training seeds or more and fewer than the table's {saved.shape[1]}")
    if set(np.unique(sizes)) != {1.0, 2.0}:
        raise BadInput("small studies need alias pairs and single shots, and nothing else, in the table")
    return Played(saved, sizes, seeds)


def small_studies(source: Played, studies: int, replicates: int, seed: int = 20261116) -> dict[str, Any]:
    """How far small studies are off, and by method how often they hold the truth, how wide they are, what they find."""
    rng, found, off = np.random.default_rng(seed), {name: np.zeros(3) for name in METHODS}, []
    for one in blocks(source, rng, studies, replicates):
        off.append(one.rates[0] - one.rates[1] - source.difference)
        called = one.equivalent()
        for method, ends in one.intervals().items():
            low, high = (end[1] for end in ends)
            held = (low <= source.difference) & (source.difference <= high)
            found[method] += [held.sum(), (high - low).sum() / 2, called[method].sum()]
    names = ("held", "half_width", "equivalent")
    shares = {method: dict(zip(names, (total / studies).tolist(), strict=True)) for method, total in found.items()}
    return {"seeds": source.seeds, "difference": source.difference, "sd": float(np.concatenate(off).std()), **shares}
