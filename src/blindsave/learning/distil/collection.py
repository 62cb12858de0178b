"""Collect closed-loop episodes of any policy on any schedule into a dataset."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from blindsave import store
from blindsave.learning.distil.dataset import KIND, Dataset, Episodes
from blindsave.learning.distil.schedule import Schedule, draw, episodes
from blindsave.learning.distil.shadow import Teacher, shadow_labels
from blindsave.learning.distil.shards import write_shard
from blindsave.policies import closed_loop
from blindsave.policies.base import Policy
from blindsave.task.outcomes import TIMEOUT_STEPS

SHARD_EPISODES = 500
Progress = Callable[[int], None]


def collect(
    root: str | Path,
    policy: Policy,
    schedule: Schedule,
    inputs: dict[str, str],
    teacher: Teacher | None = None,
    *,
    threads: int | None = None,
    shard_episodes: int = SHARD_EPISODES,
    progress: Progress | None = None,
) -> Dataset:
    """Play the schedule with a policy and keep it as a dataset below `root`; an existing one is verified and returned.

    With a `teacher`, labels are its shadow labels; without, the policy is the teacher and its own actions are the
    labels. `inputs` maps what else decides the content (the policy, the teacher) to its SHA-256.
    """
    configuration = {
        "behaviour": policy.name,
        "labels": "own" if teacher is None else f"shadow of {teacher.name}",
        "schedule": asdict(schedule),
        "shard_episodes": shard_episodes,
    }

    def build(folder: Path) -> dict[str, Any]:
        transitions = 0
        for number, start in enumerate(range(0, schedule.episodes, shard_episodes)):
            part = schedule.part(start, start + shard_episodes)
            fields = record(policy, part, teacher, threads=threads)
            write_shard(folder / f"shard-{number:04d}.safetensors", fields)
            transitions += len(fields["obs"])
            if progress:
                progress(part.episodes)
        queries = 0 if teacher is None else transitions
        return {"episodes": schedule.episodes, "transitions": transitions, "shadow_queries": queries}

    return Dataset(store.make(root, KIND, configuration, inputs, build))


def episodes_of(
    policy: Policy, schedule: Schedule, teacher: Teacher | None = None, *, threads: int | None = None
) -> Episodes:
    """Play a schedule and return the labelled episodes, without keeping a file."""
    return Episodes(**record(policy, schedule, teacher, threads=threads))


def record(
    policy: Policy, schedule: Schedule, teacher: Teacher | None = None, *, threads: int | None = None
) -> dict[str, np.ndarray]:
    """Play a schedule and return the fields of a shard (docs/distillation.md)."""
    drawn = draw(schedule)
    played = closed_loop.run(policy, episodes(schedule), threads=threads, record=True)
    assert played.obs is not None and played.actions is not None
    valid = np.arange(TIMEOUT_STEPS) < played.steps[:, None]
    requested = np.clip(played.actions, -1.0, 1.0)
    labels = requested
    if teacher is not None:
        labels = shadow_labels(teacher, played.obs, requested, played.steps, threads)
    return {
        "obs": played.obs[:, :TIMEOUT_STEPS][valid],
        "action": requested[valid],
        "label": labels[valid],
        "index": schedule.indices,
        "seed": schedule.seeds,
        "shot": drawn.shot,
        "blackout": drawn.blackout,
        "steps": played.steps,
        "outcome": played.outcome,
        "first_contact": played.first_contact,
        "score": played.reward,
        "final_obs": played.obs[np.arange(schedule.episodes), played.steps],
    }
