"""The shots of `direct_launch_v3`: six splits, each a pure function of its seed.

A split holds *alias families*, pairs of shots from the centre that meet at one point after five control
steps and then part for opposite posts, and *support* shots from the sides that keep a goalkeeper honest.
Geometry is drag-free: the simulator adds the drag, so the real meeting point is a little short of the nominal
one.
"""

import difflib
import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from blindsave.arena.constants import PUCK_RADIUS_M, TABLE_LENGTH_M, TABLE_WIDTH_M
from blindsave.errors import BadInput

GOAL_PLANE_X_M = -0.974
APPROACH_PLANE_X_M = -0.65
RENDEZVOUS_TIME_S = 5 * 0.02

Range = tuple[float, float]
LAUNCH_X_M: Range = (0.45, 0.65)
APPROACH_TIME_S: Range = (0.36, 0.75)
# The order of both tables is part of the recipe: support blocks are drawn launch by launch, target by target.
LAUNCH_REGIONS: dict[str, Range] = {"left": (-0.36, -0.16), "centre": (-0.03, 0.03), "right": (0.16, 0.36)}
TARGET_REGIONS: dict[str, Range] = {
    "near_post_left": (-0.095, -0.088),
    "goal_centre": (-0.020, 0.020),
    "near_post_right": (0.088, 0.095),
}
RENDEZVOUS_X_M: Range = (0.28, 0.34)
ALIAS_SPEED: Range = (1.8, 2.6)
ALIAS_LAUNCH = "centre"
ALIAS_TARGETS = ("near_post_left", "near_post_right")


@dataclass(frozen=True)
class Shot:
    """One launch of the puck and where it is going; table frame, metres, metres per second."""

    id: str
    x: float
    y: float
    vx: float
    vy: float
    launch_region: str
    target_region: str
    target_y: float
    approach_time_s: float
    speed: float
    angle_deg: float
    alias_family: str | None = None
    rendezvous: tuple[float, float] | None = None

    @property
    def launch(self) -> tuple[float, float, float, float, float, float]:
        """Puck x, y, yaw, vx, vy, yaw rate at reset."""
        return (self.x, self.y, 0.0, self.vx, self.vy, 0.0)

    @property
    def unit(self) -> str:
        """The unit of chance: both members of an alias family count as one."""
        return self.alias_family or self.id


@dataclass(frozen=True)
class Counts:
    """How many alias families and how many support shots (by launch and target region) a split has."""

    alias_families: int
    support: Mapping[tuple[str, str], int]

    def times(self, factor: int) -> "Counts":
        """So many times as many of every kind."""
        return Counts(factor * self.alias_families, {kind: factor * count for kind, count in self.support.items()})

    @property
    def total(self) -> int:
        """Number of shots."""
        return 2 * self.alias_families + sum(self.support.values())


@dataclass(frozen=True)
class Split:
    """A named, seeded set of shots."""

    name: str
    distribution: str
    seed: int
    counts: Counts


def _counts(alias_families: int, left_post: int, left_centre: int, right_centre: int, right_post: int) -> Counts:
    return Counts(
        alias_families,
        MappingProxyType(
            {
                ("left", "near_post_left"): left_post,
                ("left", "goal_centre"): left_centre,
                ("right", "goal_centre"): right_centre,
                ("right", "near_post_right"): right_post,
            }
        ),
    )


_V3 = "direct_launch_v3"
SPLITS: Mapping[str, Split] = MappingProxyType(
    {
        split.name: split
        for split in (
            Split("calibration", _V3, 1303, _counts(90, 14, 4, 4, 14)),
            Split("train", _V3, 2303, _counts(360, 80, 10, 10, 80)),
            Split("validation", _V3, 3303, _counts(90, 20, 2, 3, 20)),
            Split("test", _V3, 4303, _counts(90, 20, 3, 2, 20)),
            Split("principal_test", f"{_V3}_principal_test_v1", 5303, _counts(90, 20, 2, 3, 20)),
            Split("noise_test", "direct_launch_noise_v1", 930306, _counts(90, 20, 2, 3, 20)),
        )
    }
)


def split_named(name: str) -> Split:
    """Look a split up, or say which ones exist."""
    if name not in SPLITS:
        raise BadInput(f"there is no split '{name}'{_did_you_mean(name, SPLITS)}; splits: {', '.join(SPLITS)}")
    return SPLITS[name]


@functools.cache
def shots(split: str) -> tuple[Shot, ...]:
    """Return the shots of a named split in schedule order."""
    chosen = split_named(split)
    return generate(chosen.name, chosen.distribution, chosen.seed, chosen.counts)


def find(shot_id: str) -> Shot:
    """Return the shot with this id from whichever split it belongs to; its distribution may be left out."""
    distribution_and_split = shot_id.split(":")[:2]
    for split in SPLITS.values():
        if split.name in distribution_and_split:
            known = _by_id(split.name)
            full_id = shot_id if shot_id in known else f"{split.distribution}:{shot_id}"
            if full_id in known:
                return known[full_id]
            raise BadInput(f"split '{split.name}' has no shot '{shot_id}'{_did_you_mean(full_id, known)}")
    raise BadInput(
        f"'{shot_id}' is not a shot id: ids look like 'validation:alias:038:near_post_left'"
        f" and name one of the splits {', '.join(SPLITS)}"
    )


@functools.cache
def _by_id(split: str) -> dict[str, Shot]:
    return {shot.id: shot for shot in shots(split)}


def custom(launch: Sequence[float]) -> Shot:
    """Make a shot of one's own: x, y, vx, vy in the table frame, on the table, towards the goal."""
    values = np.asarray(launch, np.float64)
    if values.shape != (4,) or not np.isfinite(values).all():
        raise BadInput(f"a launch is four finite numbers x, y, vx, vy, got {launch!r}")
    x, y, vx, vy = values.tolist()
    if abs(x) > TABLE_LENGTH_M / 2 - PUCK_RADIUS_M or abs(y) > TABLE_WIDTH_M / 2 - PUCK_RADIUS_M:
        raise BadInput(f"the puck does not fit on the table at ({x:g}, {y:g})")
    if vx >= 0:
        raise BadInput(f"a shot must fly towards the goal (vx below zero), got vx = {vx:g}")
    target_y = _round(y + vy * (GOAL_PLANE_X_M - x) / vx)
    approach_time_s = _round(max(0.0, (APPROACH_PLANE_X_M - x) / vx))
    return _shot(f"custom:{x:g},{y:g},{vx:g},{vy:g}", (x, y, vx, vy), ("custom", "custom", target_y, approach_time_s))


def generate(split_name: str, distribution_id: str, seed: int, counts: Counts) -> tuple[Shot, ...]:
    """Draw a split of the distribution from any seed; the same arguments always give the same bits."""
    if seed < 0:
        raise BadInput(f"a split's seed must not be negative, got {seed}")
    prefix = f"{distribution_id}:{split_name}"
    rng = np.random.default_rng(seed)
    drawn: list[Shot] = []
    for index, row in enumerate(_latin_hypercube(rng, counts.alias_families)):
        drawn.extend(_alias_family(f"{prefix}:alias:{index:03d}", row))
    for launch in LAUNCH_REGIONS:
        for target in TARGET_REGIONS:
            count = counts.support.get((launch, target), 0)
            if count:
                rows = _latin_hypercube(rng, count)
                block = f"{prefix}:support:{launch}:{target}"
                drawn.extend(_support(f"{block}:{i:03d}", launch, target, row) for i, row in enumerate(rows))
    return tuple(drawn[i] for i in rng.permutation(len(drawn)))


def _latin_hypercube(rng: np.random.Generator, rows: int) -> list[list[float]]:
    """Four columns, each hitting every one of `rows` equal strata once; per column: draw, then permute."""
    columns = []
    for _ in range(4):
        strata = (np.arange(rows) + rng.random(rows)) / rows
        columns.append(strata[rng.permutation(rows)])
    return np.stack(columns, axis=1).tolist()


def _alias_family(family: str, row: list[float]) -> Iterable[Shot]:
    rendezvous_x = _within(RENDEZVOUS_X_M, row[0])
    speed_x = _within(ALIAS_SPEED, row[1])
    x = _round(rendezvous_x + speed_x * RENDEZVOUS_TIME_S)
    time_to_goal_s = (GOAL_PLANE_X_M - rendezvous_x) / -speed_x
    # Mirrored targets: the second member uses the rest of the unit interval.
    for target, unit in zip(ALIAS_TARGETS, (row[2], 1.0 - row[2]), strict=True):
        target_y = _within(TARGET_REGIONS[target], unit)
        vy = _round(target_y / time_to_goal_s)
        y = _round(-vy * RENDEZVOUS_TIME_S)
        _require_inside(x, LAUNCH_X_M, family)
        _require_inside(y, LAUNCH_REGIONS[ALIAS_LAUNCH], family)
        approach_time_s = _round((APPROACH_PLANE_X_M - x) / -speed_x)
        yield _shot(
            f"{family}:{target}",
            (x, y, -speed_x, vy),
            (ALIAS_LAUNCH, target, target_y, approach_time_s),
            alias_family=family,
            rendezvous=(rendezvous_x, 0.0),
        )


def _support(shot_id: str, launch: str, target: str, row: list[float]) -> Shot:
    x = _within(LAUNCH_X_M, row[0])
    y = _within(LAUNCH_REGIONS[launch], row[1])
    target_y = _within(TARGET_REGIONS[target], row[2])
    approach_time_s = _within(APPROACH_TIME_S, row[3])
    vx = _round((APPROACH_PLANE_X_M - x) / approach_time_s)
    time_to_goal_s = (GOAL_PLANE_X_M - x) / vx
    vy = _round((target_y - y) / time_to_goal_s)
    return _shot(shot_id, (x, y, vx, vy), (launch, target, target_y, approach_time_s))


def _shot(
    shot_id: str,
    motion: tuple[float, float, float, float],
    aim: tuple[str, str, float, float],
    alias_family: str | None = None,
    rendezvous: tuple[float, float] | None = None,
) -> Shot:
    _, _, vx, vy = motion
    speed = _round(math.hypot(vx, vy))
    angle_deg = _round(math.degrees(math.atan2(vy, -vx)))
    return Shot(shot_id, *motion, *aim, speed, angle_deg, alias_family, rendezvous)


def _round(value: float) -> float:
    """Twelve decimals: far below physics, far above the last bits that differ between machines."""
    return round(value, 12)


def _within(interval: Range, unit: float) -> float:
    low, high = interval
    return _round(low + unit * (high - low))


def _require_inside(value: float, interval: Range, owner: str) -> None:
    if not interval[0] <= value <= interval[1]:
        raise BadInput(f"alias family {owner} would launch at {value}, outside {interval}")


def _did_you_mean(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=2, cutoff=0.7)
    return f" (did you mean {' or '.join(repr(word) for word in near)}?)" if near else ""
