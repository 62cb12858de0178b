"""Saves as arrays: the one form in which the statistics read episode tables."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from blindsave.errors import BadInput
from blindsave.evidence import tables

SEEDLESS = (0,)


@dataclass(frozen=True)
class Saves:
    """Every policy's saves over one split, shots sorted by id.

    `saved[policy]` has axes (training seed, shot, blackout length, disturbance). Units are alias families or single
    support shots, sorted by id; `unit_of` gives each shot's unit.
    """

    split: str
    shot_ids: tuple[str, ...]
    target_regions: tuple[str, ...]
    is_alias: np.ndarray
    units: tuple[str, ...]
    unit_of: np.ndarray
    blackouts: tuple[int, ...]
    disturbances: tuple[str, ...]
    seeds: Mapping[str, tuple[int, ...]]
    saved: Mapping[str, np.ndarray]

    def at(self, policy: str, blackout: int, disturbance: str = "clean") -> np.ndarray:
        """Saves of one policy under one condition: bool (training seed, shot)."""
        return self.saved[self._known(policy)][:, :, self._length(blackout), self._kind(disturbance)]

    def by_unit(
        self, policy: str, blackout: int, disturbance: str = "clean", group: np.ndarray | None = None
    ) -> np.ndarray:
        """Saves of one policy under one condition summed by unit: float (training seed, unit), whole numbers."""
        saved = self.at(policy, blackout, disturbance)
        return (saved if group is None else saved & group) @ self._membership()

    def unit_sizes(self, group: np.ndarray | None = None) -> np.ndarray:
        """Shots per unit (of a group, given as a mask over shots): float (unit,)."""
        counted = np.ones(len(self.shot_ids)) if group is None else group.astype(float)
        return counted @ self._membership()

    def families(self) -> tuple[str, ...]:
        """Policies with training seeds; all must have the same ones, for draws are shared between them."""
        names = tuple(name for name, seeds in self.seeds.items() if seeds != SEEDLESS)
        for name in names:
            if self.seeds[name] != self.seeds[names[0]]:
                raise BadInput(f"{name} and {names[0]} have different training seeds and cannot be paired")
        return names

    def training_seeds(self) -> tuple[int, ...]:
        """The training seeds all families share (none where there is no family)."""
        names = self.families()
        return self.seeds[names[0]] if names else ()

    def _membership(self) -> np.ndarray:
        member = np.zeros((len(self.shot_ids), len(self.units)))
        member[np.arange(len(self.shot_ids)), self.unit_of] = 1.0
        return member

    def _known(self, policy: str) -> str:
        if policy not in self.saved:
            raise BadInput(f"the table holds no policy '{policy}'; it holds {', '.join(self.saved)}")
        return policy

    def _length(self, blackout: int) -> int:
        if blackout not in self.blackouts:
            raise BadInput(f"the table holds no blackout of {blackout} steps; it holds {self.blackouts}")
        return self.blackouts.index(blackout)

    def _kind(self, disturbance: str) -> int:
        if disturbance not in self.disturbances:
            raise BadInput(f"the table holds no disturbance '{disturbance}'; it holds {self.disturbances}")
        return self.disturbances.index(disturbance)


def saves(table: pa.Table, split: str | None = None) -> Saves:
    """Check a table and lay its saves out as arrays; `split` chooses one where the table holds several."""
    if split is not None:
        chosen = tables.of_split(table, split)
        if not chosen.num_rows:
            held = ", ".join(map(str, table["split"].unique().to_pylist())) or "none"
            raise BadInput(f"the table holds no split '{split}'; it holds {held}")
        table = chosen
    expected = tables.infer(table)
    if len(expected.layouts) != 1:
        found = ", ".join(layout.split for layout in expected.layouts) or "none"
        raise BadInput(f"statistics are made of one split at a time; the table holds: {found}")
    tables.check(table, expected)
    layout = expected.layouts[0]
    order = np.argsort(np.array([row.shot_id for row in layout.shots]))
    members = [layout.shots[i] for i in order]
    units, unit_of = np.unique(np.array([shot.unit for shot in members]), return_inverse=True)
    cells = (len(members), len(layout.blackouts), len(layout.disturbances))
    flat = table["save"].to_numpy(zero_copy_only=False)
    saved, start = {}, 0
    for policy in sorted(expected.policies):
        runs = len(expected.policies[policy])
        block = flat[start : start + runs * len(layout)].reshape(runs, *cells)
        saved[policy] = block[:, order]
        start += runs * len(layout)
    return Saves(
        split=layout.split,
        shot_ids=tuple(shot.shot_id for shot in members),
        target_regions=tuple(shot.target_region for shot in members),
        is_alias=np.array([shot.alias_family is not None for shot in members]),
        units=tuple(units.tolist()),
        unit_of=unit_of,
        blackouts=layout.blackouts,
        disturbances=layout.disturbances,
        seeds={policy: tuple(sorted(expected.policies[policy])) for policy in sorted(expected.policies)},
        saved=saved,
    )
