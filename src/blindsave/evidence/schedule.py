"""Which episodes a grid holds: shots x blackout lengths x conditions, always in the same order.

Tables have a column `disturbance` for the condition, beside `blackout` for the main blackout.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from blindsave.errors import BadInput
from blindsave.store import digest
from blindsave.task.conditions import CLEAN, CLEAN_NAME, Condition, condition, number
from blindsave.task.episode import Episode
from blindsave.task.shots import Shot, shots


class ShotRow(NamedTuple):
    """What a table says of a shot."""

    shot_id: str
    alias_family: str | None
    unit: str
    launch_region: str
    target_region: str


@dataclass(frozen=True)
class Layout:
    """The keys of a grid in order: shot-major, then blackout length, then disturbance."""

    split: str
    shots: tuple[ShotRow, ...]
    blackouts: tuple[int, ...]
    disturbances: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.shots) * len(self.blackouts) * len(self.disturbances)

    def cell(self, place: int) -> tuple[ShotRow, int, str]:
        """The condition at a place of the order."""
        rest, disturbance = divmod(place, len(self.disturbances))
        shot, blackout = divmod(rest, len(self.blackouts))
        return self.shots[shot], self.blackouts[blackout], self.disturbances[disturbance]


@dataclass(frozen=True)
class Schedule:
    """A paired grid: every policy meets exactly these episodes."""

    split: str
    shots: tuple[Shot, ...]
    blackouts: tuple[int, ...]
    conditions: tuple[Condition, ...] = (CLEAN,)

    def __post_init__(self) -> None:
        _distinct("shot", [shot.id for shot in self.shots])
        _distinct("blackout length", self.blackouts)
        _distinct("condition", [condition.name for condition in self.conditions])

    def __len__(self) -> int:
        return len(self.shots) * len(self.blackouts) * len(self.conditions)

    @property
    def layout(self) -> Layout:
        """The keys of this grid's rows, in order."""
        rows = tuple(
            ShotRow(shot.id, shot.alias_family, shot.unit, shot.launch_region, shot.target_region)
            for shot in self.shots
        )
        return Layout(self.split, rows, self.blackouts, tuple(one.name for one in self.conditions))

    def episodes(self) -> list[Episode]:
        """Every episode, in the order of the layout."""
        return [
            one.episode(shot, blackout) for shot in self.shots for blackout in self.blackouts for one in self.conditions
        ]

    def describe(self) -> dict[str, Any]:
        """Everything that decides the episodes, for manifests; the launches as one hash."""
        return {
            "split": self.split,
            "shots": len(self.shots),
            "launches_sha256": digest([[shot.id, *shot.launch] for shot in self.shots]),
            "blackouts": list(self.blackouts),
            "conditions": {one.name: one.describe() for one in self.conditions},
        }


def schedule(
    split: str, blackouts: Iterable[int], conditions: Iterable[str] = (CLEAN_NAME,), members: Sequence[Shot] = ()
) -> Schedule:
    """Build the grid of a named split (or of the given `members`) under conditions given by their names."""
    chosen = tuple(members) or shots(split)
    return Schedule(split, chosen, tuple(blackouts), tuple(condition(name) for name in conditions))


def noise_levels(noise_mm: Iterable[float]) -> tuple[str, ...]:
    """The conditions of tracking noise with these standard deviations; 0 mm is clean."""
    return tuple(condition(f"noise_{number(sigma)}mm").name if sigma else CLEAN_NAME for sigma in noise_mm)


def _distinct(what: str, values: Sequence[Any]) -> None:
    if not values:
        raise BadInput(f"a grid needs at least one {what}")
    seen = set()
    for value in values:
        if value in seen:
            raise BadInput(f"{what} {value} is named twice in one grid")
        seen.add(value)
