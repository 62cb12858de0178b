"""Recorded failures: which episodes to show, how to play them again, and the file that keeps them.

A scene shows one failed episode and others of the same shot side by side. Policies are played again from their files
in the closed loop; an episode that does not end as its table says is refused, so a scene is what was counted.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from blindsave.errors import BadFile, BadInput
from blindsave.policies.base import Policy
from blindsave.report.names import TEACHER, condition, ordered, title
from blindsave.store import write_whole
from blindsave.task.conditions import condition as condition_named
from blindsave.task.episode import Episode
from blindsave.task.interface import MALLET, mallet_m, to_table
from blindsave.task.shots import Shot

SCHEMA = "blindsave.replays.v1"
PARTNERS = ("structured_k0", "gru_n64", "structured_k2", "structured_k1", "structured_k4", TEACHER, "finite_stack_10")
"""Whose save to show beside a failure: the first of these that saved the same shot."""
Load = Callable[[str, int], Policy]


@dataclass(frozen=True)
class Lane:
    """One episode to show: who plays which shot, and how the table says it ended."""

    policy: str
    training_seed: int
    shot_id: str
    outcome: str


@dataclass(frozen=True)
class Scene:
    """Episodes to show side by side under one condition."""

    title: str
    split: str
    blackout: int
    disturbance: str
    lanes: tuple[Lane, ...]


def choose(table: pa.Table, blackout: int, per_policy: int = 2, disturbance: str = "clean") -> list[Scene]:
    """Pick failures of every policy: different endings first, each beside a policy that saved the same shot."""
    rows = [
        row
        for row in table.select(
            ["policy", "training_seed", "split", "shot_id", "blackout", "disturbance", "outcome", "save"]
        ).to_pylist()
        if row["blackout"] == blackout and row["disturbance"] == disturbance
    ]
    by_key = {(row["policy"], row["training_seed"], row["shot_id"]): row for row in rows}
    scenes = []
    for policy in ordered({row["policy"] for row in rows}):
        failed = [row for row in rows if row["policy"] == policy and not row["save"]]
        for row in _varied(failed)[:per_policy]:
            partner = _partner(by_key, row)
            lanes = [_lane(row), *([_lane(partner)] if partner else [])]
            name = f"{title(policy)}, {row['outcome'].replace('_', ' ')}, {condition(blackout, disturbance)}"
            scenes.append(Scene(name, row["split"], blackout, disturbance, tuple(lanes)))
    return scenes


def record(scenes: Sequence[Scene], load: Load, shots: Mapping[str, Shot]) -> dict[str, Any]:
    """Play every lane again and return the document of the replay file."""
    lanes: dict[tuple[str, int], list[tuple[int, int, Episode, Lane]]] = {}
    for s, scene in enumerate(scenes):
        for i, lane in enumerate(scene.lanes):
            if lane.shot_id not in shots:
                raise BadInput(f"the shot {lane.shot_id} of a replay is not in its split")
            episode = condition_named(scene.disturbance).episode(shots[lane.shot_id], scene.blackout)
            lanes.setdefault((lane.policy, lane.training_seed), []).append((s, i, episode, lane))
    played: dict[tuple[int, int], dict[str, Any]] = {}
    for (policy, seed), asked in lanes.items():
        for (s, i, _, lane), path in zip(asked, _play(load(policy, seed), asked), strict=True):
            if path["outcome"] != lane.outcome:
                raise BadInput(
                    f"{policy}/{seed} on {lane.shot_id} ended {path['outcome']}, but the table says {lane.outcome}: "
                    "the policy is not the one that was evaluated"
                )
            played[s, i] = {"policy": policy, "training_seed": seed, "shot_id": lane.shot_id, **path}
    return {
        "schema": SCHEMA,
        "scenes": [
            {
                "title": scene.title,
                "split": scene.split,
                "blackout": scene.blackout,
                "disturbance": scene.disturbance,
                "lanes": [played[s, i] for i in range(len(scene.lanes))],
            }
            for s, scene in enumerate(scenes)
        ],
    }


def write(document: Mapping[str, Any], path: str | Path) -> Path:
    """Write a replay file, whole or not at all."""
    from blindsave.store import canonical_json

    return write_whole(path, canonical_json(document) + "\n")


def check(document: Any, path: str | Path = "replays.json") -> Mapping[str, Any]:
    """Refuse a document that is not of the schema or whose lanes do not fit together."""
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise BadFile(f"{path} is not a replay file of schema {SCHEMA}")
    for scene in document["scenes"]:
        for lane in scene["lanes"]:
            lengths = {len(lane[name]) for name in ("puck_x", "puck_y", "mallet_x", "mallet_y")}
            if lengths != {lane["steps"] + 1}:
                raise BadFile(f"{path}: the replay of {lane['policy']} on {lane['shot_id']} is incomplete")
    return document


def _play(policy: Policy, asked: Sequence[tuple[int, int, Episode, Lane]]) -> list[dict[str, Any]]:
    """Whole millimetres in the table frame are as fine as a page can show."""
    from blindsave.policies.closed_loop import run

    result = run(policy, [episode for _, _, episode, _ in asked], record=True)
    assert result.obs is not None and result.truth is not None
    paths = []
    for i in range(len(result)):
        until = int(result.steps[i]) + 1
        mallet = mallet_m(result.obs[i, :until, MALLET])
        puck = result.truth[i, :until, :2]
        across = {}
        for name, path in (("puck", puck), ("mallet", mallet)):
            whole = np.rint(1000 * to_table(path)).astype(int)
            across |= {f"{name}_x": whole[:, 0].tolist(), f"{name}_y": whole[:, 1].tolist()}
        paths.append(
            {
                "outcome": result.labels[i],
                "saved": bool(result.saved[i]),
                "steps": int(result.steps[i]),
                "first_contact": int(result.first_contact[i]),
                **across,
            }
        )
    return paths


def _varied(failed: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """One of each ending first, then the rest; alias shots before support shots, then in table order."""
    ranked = sorted(failed, key=lambda row: ":alias:" not in row["shot_id"])
    first: dict[str, Mapping[str, Any]] = {}
    for row in ranked:
        first.setdefault(row["outcome"], row)
    leading = list(first.values())
    return leading + [row for row in ranked if not any(row is other for other in leading)]


def _partner(by_key: Mapping[tuple[str, int, str], Mapping[str, Any]], row: Mapping[str, Any]) -> Any:
    for policy in PARTNERS:
        for seed in (row["training_seed"], 0):
            other = by_key.get((policy, seed, row["shot_id"]))
            if policy != row["policy"] and other is not None and other["save"]:
                return other
    saved = (o for o in by_key.values() if o["shot_id"] == row["shot_id"] and o["save"])
    return next(saved, None)


def _lane(row: Mapping[str, Any]) -> Lane:
    return Lane(row["policy"], row["training_seed"], row["shot_id"], row["outcome"])
