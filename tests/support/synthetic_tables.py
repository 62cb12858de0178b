"""Episode tables made up for tests: any policies, any shots, saves decided by a function."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from blindsave.evidence import tables
from blindsave.evidence.saves import Saves, saves
from blindsave.evidence.schedule import Layout, ShotRow

SEEDS = (14303, 14304, 14305, 14306, 14307)
Decide = Callable[[str, int, ShotRow, int, str], bool]


def shot_rows(pairs: int = 90, support: Sequence[int] = (20, 2, 3, 20)) -> tuple[ShotRow, ...]:
    """Shots of the study's design, shuffled as a schedule is."""
    made = []
    for i in range(pairs):
        family = f"d:s:alias:{i:03d}"
        targets = ("near_post_left", "near_post_right")
        made.extend(ShotRow(f"{family}:{target}", family, family, "centre", target) for target in targets)
    kinds = (
        ("left", "near_post_left"),
        ("left", "goal_centre"),
        ("right", "goal_centre"),
        ("right", "near_post_right"),
    )
    for (launch, target), n in zip(kinds, support, strict=True):
        for i in range(n):
            shot = f"d:s:support:{launch}:{target}:{i:03d}"
            made.append(ShotRow(shot, None, shot, launch, target))
    return tuple(made[i] for i in np.random.default_rng(3).permutation(len(made)))


def table(
    policies: Mapping[str, Sequence[int]],
    decide: Decide,
    blackouts: Sequence[int] = (20,),
    disturbances: Sequence[str] = ("clean",),
    members: Sequence[ShotRow] | None = None,
    split: str = "principal_test",
) -> pa.Table:
    """A complete table whose saves `decide` decides."""
    layout = Layout(split, tuple(members or shot_rows()), tuple(blackouts), tuple(disturbances))
    parts = []
    for policy, seeds in policies.items():
        for seed in seeds:
            cells = [layout.cell(place) for place in range(len(layout))]
            saved = np.array([decide(policy, seed, *cell) for cell in cells], bool)
            parts.append(
                tables.rows(
                    policy,
                    seed,
                    layout,
                    ["returned" if s else "goal_conceded" for s in saved],
                    saved,
                    np.full(len(saved), 40),
                    np.full(len(saved), 20),
                    np.where(saved, 1.2, -1.0),
                )
            )
    return tables.concatenate(parts)


def random_table(policies: Mapping[str, float], seeds: Sequence[int] = SEEDS, **options) -> pa.Table:
    """A table in which every policy saves at about the given rate, by clustered chance; "teacher" is seedless."""
    rng = np.random.default_rng(7)
    hard: dict[str, float] = {}
    luck: dict[tuple[str, int], float] = {}

    def decide(policy: str, seed: int, shot: ShotRow, blackout: int, disturbance: str) -> bool:
        hardness = hard.setdefault(shot.unit, float(rng.normal(0, 0.1)))
        trained = luck.setdefault((policy, seed), float(rng.normal(0, 0.03)))
        return bool(rng.random() < policies[policy] + hardness + trained - blackout / 500)

    runs = {policy: (0,) if policy == "teacher" else tuple(seeds) for policy in policies}
    return table(runs, decide, **options)


def random_saves(policies: Mapping[str, float], **options) -> Saves:
    """`random_table` as arrays."""
    return saves(random_table(policies, **options))
