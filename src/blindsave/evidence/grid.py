"""Run a policy over a paired grid and keep the rows; one artifact per policy and grid, so a crash costs one policy."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from blindsave.errors import BadInput
from blindsave.evidence import tables
from blindsave.evidence.contestants import Contestant
from blindsave.evidence.schedule import Schedule
from blindsave.store import Artifact, code_sha256, make, provenance

KIND = "grid"
ROWS = "episodes.parquet"
LABELLED_AT_ONCE = 512
Progress = Callable[[int], None]


def play(
    contestant: Contestant,
    schedule: Schedule,
    *,
    teacher: Any = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> pa.Table:
    """Play every episode of a grid and return its rows; with a `teacher`, action error is filled in."""
    from blindsave.policies.closed_loop import run

    episodes = schedule.episodes()
    if teacher is None:
        result = run(contestant.player, episodes, threads=threads, progress=progress)
        return _rows(contestant, schedule, [result], None)
    parts, errors = [], []
    for start in range(0, len(episodes), LABELLED_AT_ONCE):
        chunk = episodes[start : start + LABELLED_AT_ONCE]
        parts.append(run(contestant.player, chunk, threads=threads, record=True, progress=progress))
        errors.append(action_error(teacher, parts[-1].obs, parts[-1].actions, parts[-1].steps))
    return _rows(contestant, schedule, parts, np.concatenate(errors))


def action_error(teacher: Any, obs: np.ndarray, actions: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """Mean squared distance, per episode, between the actions asked for and the shadow teacher's.

    The teacher sees the same observations and is told, as its own previous action, what the policy asked for.
    """
    if not hasattr(teacher, "with_previous_action"):
        raise BadInput(f"{teacher.name} cannot label actions: it cannot be told what another policy did")
    carry = teacher.initial(len(steps))
    total = np.zeros(len(steps))
    for t in range(int(steps.max(initial=0))):
        live = np.flatnonzero(steps > t)
        before = actions[live, t - 1] if t else np.zeros((len(live), 2), np.float32)
        own = teacher.with_previous_action(carry[live], before)
        carry[live], label = teacher.step(own, obs[live, t])
        total[live] += ((actions[live, t].astype(float) - np.clip(label, -1, 1)) ** 2).mean(axis=1)
    return total / np.maximum(steps, 1)


def artifact(
    root: str | Path,
    contestant: Contestant,
    schedule: Schedule,
    *,
    teacher: Contestant | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Artifact:
    """The stored rows of one policy over one grid: opened where they exist, played where they do not."""
    configuration = {
        "policy": contestant.policy,
        "training_seed": contestant.training_seed,
        "grid": schedule.describe(),
        "mujoco": provenance()["libraries"].get("mujoco"),
    }
    inputs = {"policy": contestant.sha256, "code": code_sha256("arena", "task", "policies")}
    if teacher is not None:
        inputs["teacher"] = teacher.sha256

    def build(folder: Path) -> dict[str, int]:
        player = None if teacher is None else teacher.player
        table = play(contestant, schedule, teacher=player, threads=threads, progress=progress)
        tables.write(table, folder / ROWS)
        return {"episodes": table.num_rows, "saves": int(np.asarray(table["save"]).sum())}

    return make(root, KIND, configuration, inputs, build)


def grid(
    root: str | Path,
    contestants: Sequence[Contestant],
    schedule: Schedule,
    *,
    teacher: Contestant | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> pa.Table:
    """The checked table of several policies over one grid; run again after a crash, it plays only what is missing."""
    seeds: dict[str, tuple[int, ...]] = {}
    for one in contestants:
        if one.training_seed in seeds.get(one.policy, ()):
            raise BadInput(f"{one.name} takes part twice")
        seeds[one.policy] = (*seeds.get(one.policy, ()), one.training_seed)
    parts = []
    for one in contestants:
        stored = artifact(root, one, schedule, teacher=teacher, threads=threads, progress=progress)
        expected = tables.Expected({one.policy: (one.training_seed,)}, (schedule.layout,))
        parts.append(tables.read(stored.path(ROWS), expected))
    return tables.concatenate(parts, tables.Expected(seeds, (schedule.layout,)))


def _rows(contestant: Contestant, schedule: Schedule, parts: Sequence[Any], errors: np.ndarray | None) -> pa.Table:
    return tables.rows(
        contestant.policy,
        contestant.training_seed,
        schedule.layout,
        [label for part in parts for label in part.labels],
        np.concatenate([part.saved for part in parts]),
        np.concatenate([part.steps for part in parts]),
        np.concatenate([part.first_contact for part in parts]),
        np.concatenate([part.reward for part in parts]),
        errors,
    )
