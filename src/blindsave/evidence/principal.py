"""The principal analysis: save rates of every family at every blackout length, and their planned differences.

Paired hierarchical cluster bootstrap over training seeds and units (docs/statistics.md).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from blindsave.errors import BadInput
from blindsave.evidence.intervals import MARGIN, Contrast, Interval, adjust, contrast, interval
from blindsave.evidence.resample import REPLICATES, principal_draws, replicate_rates
from blindsave.evidence.saves import SEEDLESS, Saves

GAP_RECOVERY_FLOOR = 0.05


@dataclass(frozen=True)
class Principal:
    """Point rates (length,) and bootstrap rates (length, replicate) of every policy of one split."""

    blackouts: tuple[int, ...]
    points: Mapping[str, np.ndarray]
    replicates: Mapping[str, np.ndarray]
    seedless: frozenset[str]

    @property
    def how(self) -> str:
        """How its intervals are made, for captions."""
        return f"paired hierarchical bootstrap ({len(next(iter(self.replicates.values()))[0]):,} replicates)"

    def rate(self, policy: str, blackout: int) -> Interval:
        """Save rate with its interval; a policy without training seeds is resampled over units alone."""
        at = self._at(blackout)
        return interval(self._of(self.points, policy)[at], self.replicates[policy][at])

    def overall(self, policy: str, longest: int = 20) -> float:
        """Save rate pooled over the lengths up to `longest` (the extrapolation length is left out)."""
        core = [index for index, blackout in enumerate(self.blackouts) if blackout <= longest]
        return float(self._of(self.points, policy)[core].mean())

    def difference(self, a: str, b: str, blackout: int, margin: float = MARGIN) -> Contrast:
        """Save rate of `a` minus that of `b` under the same draws."""
        at = self._at(blackout)
        point = self._of(self.points, a)[at] - self._of(self.points, b)[at]
        replicates = self.replicates[a][at] - self.replicates[b][at]
        return contrast((a, b), blackout, float(point), replicates, margin=margin)

    def contrasts(self, pairs: Iterable[tuple[str, str]], blackout: int, margin: float = MARGIN) -> list[Contrast]:
        """One planned set of differences at one length, Holm-adjusted within the set."""
        return adjust(self.difference(a, b, blackout, margin) for a, b in pairs)

    def gap_recovery(self, family: str, base: str, goal: str, blackout: int) -> float | None:
        """Share of the gap from `base` to `goal` that `family` closes; None where the gap is below 5 points."""
        at = self._at(blackout)
        rate = {name: self._of(self.points, name)[at] for name in (family, base, goal)}
        gap = rate[goal] - rate[base]
        return float((rate[family] - rate[base]) / gap) if abs(gap) >= GAP_RECOVERY_FLOOR - 1e-12 else None

    def gaps(self, reference: str) -> dict[str, dict[int, float]]:
        """How far every other policy stays below `reference` (the teacher), by length; points only."""
        top = self._of(self.points, reference)
        others = (name for name in self.points if name != reference)
        return {
            name: {blackout: float(gap) for blackout, gap in zip(self.blackouts, top - self.points[name], strict=True)}
            for name in others
        }

    def _at(self, blackout: int) -> int:
        if blackout not in self.blackouts:
            raise BadInput(f"no rate was computed for a blackout of {blackout} steps, only {self.blackouts}")
        return self.blackouts.index(blackout)

    @staticmethod
    def _of(points: Mapping[str, np.ndarray], policy: str) -> np.ndarray:
        if policy not in points:
            raise BadInput(f"the table holds no policy '{policy}'; it holds {', '.join(points)}")
        return points[policy]


def principal(saves: Saves, disturbance: str = "clean", replicates: int = REPLICATES) -> Principal:
    """Resample every policy of a split at every blackout length; draws are shared by all policies."""
    names = tuple(saves.saved)
    seeds = len(saves.training_seeds())
    sizes = saves.unit_sizes()
    rates = np.empty((len(names), len(saves.blackouts), replicates))
    points = np.empty((len(names), len(saves.blackouts)))
    for at, blackout in enumerate(saves.blackouts):
        draws = principal_draws(blackout, seeds, len(sizes), replicates)
        saved = [saves.by_unit(name, blackout, disturbance) for name in names]
        rates[:, at] = replicate_rates(draws, saved, sizes)
        points[:, at] = [block.sum() / (len(block) * sizes.sum()) for block in saved]
    return Principal(
        blackouts=saves.blackouts,
        points={name: points[index] for index, name in enumerate(names)},
        replicates={name: rates[index] for index, name in enumerate(names)},
        seedless=frozenset(name for name, own in saves.seeds.items() if own == SEEDLESS),
    )
