"""Which episodes a grid holds: shots x blackout lengths x disturbances, always in the same order."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from blindsave.errors import BadInput
from blindsave.store import digest
from blindsave.task.episode import UNDISTURBED, Disturbance, Episode
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
    disturbances: tuple[Disturbance, ...] = (UNDISTURBED,)

    def __post_init__(self) -> None:
        _distinct("shot", [shot.id for shot in self.shots])
        _distinct("blackout length", self.blackouts)
        _distinct("disturbance", [disturbance.name for disturbance in self.disturbances])

    def __len__(self) -> int:
        return len(self.shots) * len(self.blackouts) * len(self.disturbances)

    @property
    def layout(self) -> Layout:
        """The keys of this grid's rows, in order."""
        rows = tuple(
            ShotRow(shot.id, shot.alias_family, shot.unit, shot.launch_region, shot.target_region)
            for shot in self.shots
        )
        return Layout(self.split, rows, self.blackouts, tuple(d.name for d in self.disturbances))

    def episodes(self) -> list[Episode]:
        """Every episode, in the order of the layout."""
        return [
            disturbance.episode(shot, blackout)
            for shot in self.shots
            for blackout in self.blackouts
            for disturbance in self.disturbances
        ]

    def describe(self) -> dict[str, Any]:
        """Everything that decides the episodes, for manifests; the launches as one hash."""
        return {
            "split": self.split,
            "shots": len(self.shots),
            "launches_sha256": digest([[shot.id, *shot.launch] for shot in self.shots]),
            "blackouts": list(self.blackouts),
            "disturbances": {d.name: asdict(d) for d in self.disturbances},
        }


def schedule(
    split: str, blackouts: Iterable[int], noise_mm: Iterable[float] = (0.0,), members: Sequence[Shot] = ()
) -> Schedule:
    """Build the grid of a named split (or of the given `members`); noise of 0 mm is the clean path."""
    chosen = tuple(members) or shots(split)
    return Schedule(split, chosen, tuple(blackouts), noise_levels(noise_mm))


def noise_levels(noise_mm: Iterable[float]) -> tuple[Disturbance, ...]:
    """Tracking noise of these standard deviations; 0 is the undisturbed path."""
    return tuple(Disturbance(noise_mm=sigma) for sigma in noise_mm)


def _distinct(what: str, values: Sequence[Any]) -> None:
    if not values:
        raise BadInput(f"a grid needs at least one {what}")
    seen = set()
    for value in values:
        if value in seen:
            raise BadInput(f"{what} {value} is named twice in one grid")
        seen.add(value)
