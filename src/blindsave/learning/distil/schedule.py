"""Which episodes are collected: every one is drawn by its own generator, so any slice can be redrawn alone.

An episode's generator is seeded with (first seed + offset) and gives the shot, then the blackout length, then, where
there is a choice, the condition and what chance does under it. The base
data and the shadow data of all families use the same two schedules, hence the same shots and lengths.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from blindsave.errors import BadInput
from blindsave.task.episode import Episode
from blindsave.task.mixture import CLEAN_MIXTURE, Mixture, Shares
from blindsave.task.shots import Shot, shots

BASE_SEED = 12303
SHADOW_SEED = 52303
PILOT_SHADOW_SEED = 42303
TRAINING_SEEDS = (14303, 14304, 14305, 14306, 14307)
EPISODES = 20_000
"""Episodes of the base data, and of each family's shadow data."""
LONGEST_BLACKOUT = 20
SPLIT = "train"


@dataclass(frozen=True)
class CollectionSchedule:
    """Episodes `first_offset` to `first_offset + episodes` of a stream, and their numbers in the training data."""

    episodes: int
    first_seed: int = BASE_SEED
    first_offset: int = 0
    first_index: int = 0
    """Number of the first episode in the training data; its last digit decides train, validation or test."""
    split: str = SPLIT
    conditions: Shares = ()
    """What else happens in the episodes, as (name, share); nothing by default."""

    def __post_init__(self) -> None:
        if self.episodes < 1 or self.first_offset < 0 or self.first_index < 0:
            raise BadInput("a schedule needs at least one episode and no negative offset or index")

    def describe(self) -> dict[str, Any]:
        """Everything that decides the episodes, for manifests; clean ones say nothing of conditions."""
        said = {name: value for name, value in asdict(self).items() if name != "conditions"}
        return said | ({"conditions": self.mixture.describe()} if self.conditions else {})

    @classmethod
    def described(cls, found: Mapping[str, Any]) -> "CollectionSchedule":
        """What `describe` wrote."""
        shares = tuple((name, one["share"]) for name, one in found.get("conditions", {}).items())
        return cls(**{name: value for name, value in found.items() if name != "conditions"}, conditions=shares)

    @property
    def mixture(self) -> Mixture:
        """What else happens."""
        return Mixture.of(dict(self.conditions)) if self.conditions else CLEAN_MIXTURE

    @property
    def seeds(self) -> np.ndarray:
        """The seed of every episode's generator."""
        return self.first_seed + self.first_offset + np.arange(self.episodes, dtype=np.int64)

    @property
    def indices(self) -> np.ndarray:
        """Numbers of the episodes in the training data."""
        return self.first_index + np.arange(self.episodes, dtype=np.int64)

    def part(self, start: int, stop: int) -> "CollectionSchedule":
        """The sub-schedule of some consecutive episodes."""
        return CollectionSchedule(
            min(stop, self.episodes) - start,
            self.first_seed,
            self.first_offset + start,
            self.first_index + start,
            self.split,
            self.conditions,
        )


@dataclass(frozen=True, eq=False)
class Draws:
    """What a schedule gives: numbers of the shots in their split, and blackout lengths in steps."""

    shot: np.ndarray
    blackout: np.ndarray


def draw(schedule: CollectionSchedule) -> Draws:
    """Draw shots and blackout lengths of a schedule."""
    shot, blackout = np.empty(schedule.episodes, np.int16), np.empty(schedule.episodes, np.int16)
    for i, (_, chosen, length) in enumerate(_drawn(schedule)):
        shot[i], blackout[i] = chosen, length
    return Draws(shot, blackout)


def _drawn(schedule: CollectionSchedule) -> Iterator[tuple[np.random.Generator, int, int]]:
    """Every episode's generator, after it has given the shot and the blackout length."""
    count = len(shots(schedule.split))
    for seed in schedule.seeds:
        rng = np.random.default_rng(int(seed))
        yield rng, int(rng.integers(0, count)), int(rng.integers(0, LONGEST_BLACKOUT + 1))


def episodes(schedule: CollectionSchedule) -> list[Episode]:
    """The episodes of a schedule, ready to be played."""
    known: Sequence[Shot] = shots(schedule.split)
    mixture = schedule.mixture
    return [mixture.draw(rng, known[shot], length) for rng, shot, length in _drawn(schedule)]


def base_schedule(total: int = EPISODES, conditions: Shares = ()) -> CollectionSchedule:
    """The common teacher episodes."""
    return CollectionSchedule(total, conditions=conditions)


def shadow_schedules(
    total: int = EPISODES,
    seeds: Sequence[int] = TRAINING_SEEDS,
    first_index: int = EPISODES,
    first_seed: int = SHADOW_SEED,
    conditions: Shares = (),
) -> dict[int, CollectionSchedule]:
    """The equal share of each collector, by its training seed; the same for every family."""
    if total < len(seeds) or total % len(seeds):
        raise BadInput(f"{total} shadow episodes cannot be shared equally by {len(seeds)} collectors")
    share = total // len(seeds)
    return {
        seed: CollectionSchedule(share, first_seed, i * share, first_index + i * share, conditions=conditions)
        for i, seed in enumerate(seeds)
    }
