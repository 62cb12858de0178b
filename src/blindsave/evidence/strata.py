"""Stratified analyses: save rates and differences within groups of shots, and under tracking noise.

One set of draws (training seeds, then units within strata) serves every policy, group, length and disturbance.
Post hoc: intervals are pointwise, without adjustment, and do not replace the principal ones.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from blindsave.errors import BadInput
from blindsave.evidence.intervals import MARGIN, Contrast, Interval, contrast, interval
from blindsave.evidence.resample import (
    NOISE_SEED,
    REPLICATES,
    SUBGROUP_SEED,
    Draws,
    replicate_rates,
    stratified_draws,
)
from blindsave.evidence.saves import Saves

Cell = tuple[str, int, str]
SUBGROUP_PAIRS = (
    ("structured_k0", "feed_forward"),
    ("structured_k0", "finite_stack_10"),
    ("structured_k0", "gru_n64"),
    ("structured_k0", "teacher"),
    ("structured_k1", "structured_k0"),
    ("structured_k2", "structured_k0"),
    ("structured_k4", "structured_k0"),
)
NOISE_PAIRS = (
    ("structured_k0", "gru_n64"),
    ("structured_k0", "structured_k4"),
    ("structured_k0", "teacher"),
)


def groups(saves: Saves) -> dict[str, np.ndarray]:
    """The groups of shots the study looks at, as masks over shots."""
    target = np.array(saves.target_regions)
    left, right = target == "near_post_left", target == "near_post_right"
    alias = saves.is_alias
    return {
        "all": np.ones(len(target), bool),
        "alias": alias,
        "support": ~alias,
        "target_left": left,
        "target_right": right,
        "target_centre": target == "goal_centre",
        "alias_left": alias & left,
        "alias_right": alias & right,
    }


@dataclass(frozen=True)
class Stratified:
    """Point rates and bootstrap rates by group, then by (policy, blackout, disturbance)."""

    points: Mapping[str, Mapping[Cell, float]]
    replicates: Mapping[str, Mapping[Cell, np.ndarray]]
    how: ClassVar[str] = "stratified bootstrap"
    """How its intervals are made, for captions."""

    def rate(self, group: str, policy: str, blackout: int, disturbance: str = "clean") -> Interval:
        """Save rate of a policy within a group."""
        cell = (policy, blackout, disturbance)
        return interval(self._point(group, cell), self.replicates[group][cell])

    def difference(
        self, group: str, a: str, b: str, blackout: int, disturbance: str = "clean", margin: float = MARGIN
    ) -> Contrast:
        """Policy `a` minus policy `b` within a group."""
        one, other = (a, blackout, disturbance), (b, blackout, disturbance)
        return self._contrast(group, one, other, (a, b), margin)

    def noise_effect(
        self, group: str, policy: str, blackout: int, disturbance: str, margin: float = MARGIN
    ) -> Contrast:
        """A policy under a disturbance minus the same policy clean."""
        one, other = (policy, blackout, disturbance), (policy, blackout, "clean")
        return self._contrast(group, one, other, (policy, f"{policy} clean"), margin)

    def differences(
        self, names: Iterable[str], pairs: Iterable[tuple[str, str]], blackout: int, disturbance: str = "clean"
    ) -> list[Contrast]:
        """Every pair within every named group; pairs of absent policies are left out."""
        present = {policy for cells in self.points.values() for policy, _, _ in cells}
        return [
            self.difference(group, a, b, blackout, disturbance)
            for group in names
            for a, b in pairs
            if {a, b} <= present
        ]

    def _contrast(self, group: str, one: Cell, other: Cell, names: tuple[str, str], margin: float) -> Contrast:
        estimate = self._point(group, one) - self._point(group, other)
        replicates = self.replicates[group][one] - self.replicates[group][other]
        return contrast(names, one[1], estimate, replicates, margin=margin, disturbance=one[2], group=group)

    def _point(self, group: str, cell: Cell) -> float:
        if group not in self.points:
            raise BadInput(f"there is no group '{group}' of shots here; groups: {', '.join(self.points)}")
        if cell not in self.points[group]:
            raise BadInput(f"the table holds no policy '{cell[0]}' at {cell[1]} steps, {cell[2]}")
        return self.points[group][cell]


def subgroups(saves: Saves, replicates: int = REPLICATES) -> Stratified:
    """Resample the clean cells of every policy in every group of shots that occurs."""
    draws = stratified_draws(saves, SUBGROUP_SEED, replicates)
    return _resample(saves, draws, groups(saves), ("clean",))


def noise(saves: Saves, replicates: int = REPLICATES) -> Stratified:
    """Resample every policy, length and noise level for all, alias and support shots."""
    chosen = {name: mask for name, mask in groups(saves).items() if name in ("all", "alias", "support")}
    draws = stratified_draws(saves, NOISE_SEED, replicates)
    return _resample(saves, draws, chosen, saves.disturbances)


def _resample(saves: Saves, draws: Draws, masks: Mapping[str, np.ndarray], disturbances: Iterable[str]) -> Stratified:
    cells = [(name, length, d) for name in saves.saved for length in saves.blackouts for d in disturbances]
    points, rates = {}, {}
    for group, mask in masks.items():
        if not mask.any():
            continue
        sizes = saves.unit_sizes(mask)
        saved = [saves.by_unit(*cell, mask) for cell in cells]
        points[group] = {
            cell: float(block.sum() / (len(block) * sizes.sum())) for cell, block in zip(cells, saved, strict=True)
        }
        rates[group] = dict(zip(cells, replicate_rates(draws, saved, sizes), strict=True))
    return Stratified(points, rates)
