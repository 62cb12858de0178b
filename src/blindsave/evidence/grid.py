"""Run a policy over a paired grid and keep the rows; one artifact per policy and grid, so a crash costs one policy."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from blindsave.errors import BadInput
from blindsave.evidence import tables
from blindsave.evidence.schedule import Schedule
from blindsave.learning.distil.shadow import action_error, check_teacher
from blindsave.policies.catalog import NamedPolicy
from blindsave.policies.closed_loop import run
from blindsave.store import Artifact, code_sha256, make, provenance

KIND = "grid"
ROWS = "episodes.parquet"
LABELLED_AT_ONCE = 512
Progress = Callable[[int], None]


def play(
    named: NamedPolicy,
    schedule: Schedule,
    *,
    teacher: Any = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> pa.Table:
    """Play every episode of a grid and return its rows; with a `teacher`, action error is filled in."""
    episodes = schedule.episodes()
    if teacher is None:
        result = run(named.policy, episodes, threads=threads, progress=progress)
        return _rows(named, schedule, [result], None)
    check_teacher(teacher)
    parts, errors = [], []
    for start in range(0, len(episodes), LABELLED_AT_ONCE):
        chunk = episodes[start : start + LABELLED_AT_ONCE]
        parts.append(run(named.policy, chunk, threads=threads, record=True, progress=progress))
        errors.append(action_error(teacher, parts[-1], threads))
    return _rows(named, schedule, parts, np.concatenate(errors))


def artifact(
    root: str | Path,
    named: NamedPolicy,
    schedule: Schedule,
    *,
    teacher: NamedPolicy | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Artifact:
    """The stored rows of one policy over one grid: opened where they exist, played where they do not."""
    configuration = {
        "policy": named.family,
        "training_seed": named.training_seed,
        "grid": schedule.describe(),
        "mujoco": provenance()["libraries"].get("mujoco"),
    }
    inputs = {"policy": named.sha256, "code": code_sha256("arena", "task", "policies")}
    if teacher is not None:
        inputs["teacher"] = teacher.sha256

    def build(folder: Path) -> dict[str, int]:
        labeller = None if teacher is None else teacher.policy
        table = play(named, schedule, teacher=labeller, threads=threads, progress=progress)
        tables.write(table, folder / ROWS)
        return {"episodes": table.num_rows, "saves": int(np.asarray(table["save"]).sum())}

    return make(root, KIND, configuration, inputs, build)


def grid(
    root: str | Path,
    policies: Sequence[NamedPolicy],
    schedule: Schedule,
    *,
    teacher: NamedPolicy | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> pa.Table:
    """The checked table of several policies over one grid; run again after a crash, it plays only what is missing."""
    seeds: dict[str, tuple[int, ...]] = {}
    for one in policies:
        if one.training_seed in seeds.get(one.family, ()):
            raise BadInput(f"{one.name} takes part twice")
        seeds[one.family] = (*seeds.get(one.family, ()), one.training_seed)
    parts = []
    for one in policies:
        stored = artifact(root, one, schedule, teacher=teacher, threads=threads, progress=progress)
        expected = tables.Expected({one.family: (one.training_seed,)}, (schedule.layout,))
        parts.append(tables.read(stored.path(ROWS), expected))
    return tables.concatenate(parts, tables.Expected(seeds, (schedule.layout,)))


def _rows(named: NamedPolicy, schedule: Schedule, parts: Sequence[Any], errors: np.ndarray | None) -> pa.Table:
    return tables.rows(
        named.family,
        named.training_seed,
        schedule.layout,
        [label for part in parts for label in part.labels],
        np.concatenate([part.saved for part in parts]),
        np.concatenate([part.steps for part in parts]),
        np.concatenate([part.first_contact for part in parts]),
        np.concatenate([part.reward for part in parts]),
        errors,
    )
