"""Collect closed-loop episodes of any policy on any schedule into a dataset."""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from blindsave import store, tensors
from blindsave.learning.distil.dataset import KIND, Dataset, Episodes
from blindsave.learning.distil.schedule import CollectionSchedule, draw, episodes
from blindsave.learning.distil.shadow import Teacher, shadow_labels
from blindsave.learning.distil.undisturbed import undisturbed as as_without_faults
from blindsave.policies import closed_loop
from blindsave.policies.base import Policy
from blindsave.task.outcomes import TIMEOUT_STEPS

SHARD = "shard"
SHARD_EPISODES = 500
Progress = Callable[[int], None]


@dataclass(frozen=True, eq=False)
class Collection:
    """A schedule to be played by a policy and kept as a dataset below `root`.

    With a `teacher`, labels are its shadow labels; without, the policy is the teacher and its own actions are the
    labels. With `undisturbed`, whoever labels is shown what there would have been to see without the faults. `inputs`
    maps what else decides the content (the policy, the teacher) to its SHA-256. Shards may be made beforehand, by
    anyone who sees the folder and in any order; the dataset is the same.
    """

    root: Path
    policy: Policy
    schedule: CollectionSchedule
    inputs: dict[str, str]
    teacher: Teacher | None = None
    threads: int | None = None
    shard_episodes: int = SHARD_EPISODES
    undisturbed: bool = False

    @property
    def configuration(self) -> dict[str, Any]:
        """What is asked for."""
        labels = "own" if self.teacher is None else f"shadow of {self.teacher.name}"
        return {
            "behaviour": self.policy.name,
            "labels": f"{labels}, undisturbed" if self.undisturbed else labels,
            "schedule": self.schedule.describe(),
            "shard_episodes": self.shard_episodes,
        }

    @property
    def folder(self) -> Path:
        """Where the dataset lies, or will."""
        return store.artifact_folder(self.root, KIND, self.configuration, self.inputs)

    @property
    def shards(self) -> list[CollectionSchedule]:
        """The part of the schedule that each shard holds."""
        starts = range(0, self.schedule.episodes, self.shard_episodes)
        return [self.schedule.part(start, start + self.shard_episodes) for start in starts]

    def prepare(self, number: int) -> None:
        """Play one shard and keep it until `dataset` takes it; nothing to do where the dataset is there."""
        if self.folder.exists():
            return

        def build(folder: Path) -> dict[str, Any]:
            return {"transitions": self._play(number, folder)}

        store.make(self.root, SHARD, self._shard_configuration(number), self.inputs, build)

    def dataset(self, progress: Progress | None = None) -> Dataset:
        """The dataset: shards prepared before are taken over, the others are played; an existing one is verified."""

        def build(folder: Path) -> store.Built:
            transitions, earlier_s = 0, 0.0
            for number, part in enumerate(self.shards):
                prepared = self._prepared(number)
                if prepared.exists():
                    shard = store.open_artifact(prepared)
                    _link(shard.path(_file(number)), folder / _file(number))
                    transitions += shard.manifest["result"]["transitions"]
                    earlier_s += shard.manifest["wall_s"]
                else:
                    transitions += self._play(number, folder)
                if progress:
                    progress(part.episodes)
            queries = transitions if self.teacher is not None or self.undisturbed else 0
            counts = {"episodes": self.schedule.episodes, "transitions": transitions, "shadow_queries": queries}
            return store.Built(counts, earlier_s)

        made = Dataset(store.make(self.root, KIND, self.configuration, self.inputs, build))
        for number in range(len(self.shards)):
            shutil.rmtree(self._prepared(number), ignore_errors=True)
        return made

    def _play(self, number: int, folder: Path) -> int:
        fields = record(
            self.policy, self.shards[number], self.teacher, threads=self.threads, without_faults=self.undisturbed
        )
        tensors.write(folder / _file(number), fields)
        return len(fields["obs"])

    def _shard_configuration(self, number: int) -> dict[str, Any]:
        return self.configuration | {"shard": number}

    def _prepared(self, number: int) -> Path:
        return store.artifact_folder(self.root, SHARD, self._shard_configuration(number), self.inputs)


def collect(
    root: str | Path,
    policy: Policy,
    schedule: CollectionSchedule,
    inputs: dict[str, str],
    teacher: Teacher | None = None,
    *,
    threads: int | None = None,
    shard_episodes: int = SHARD_EPISODES,
    undisturbed: bool = False,
    progress: Progress | None = None,
) -> Dataset:
    """Play the schedule with a policy and keep it as a dataset below `root` (`Collection`)."""
    collection = Collection(Path(root), policy, schedule, inputs, teacher, threads, shard_episodes, undisturbed)
    return collection.dataset(progress)


def episodes_of(
    policy: Policy, schedule: CollectionSchedule, teacher: Teacher | None = None, *, threads: int | None = None
) -> Episodes:
    """Play a schedule and return the labelled episodes, without keeping a file."""
    return Episodes(**record(policy, schedule, teacher, threads=threads))


def record(
    policy: Policy,
    schedule: CollectionSchedule,
    teacher: Teacher | None = None,
    *,
    threads: int | None = None,
    without_faults: bool = False,
) -> dict[str, np.ndarray]:
    """Play a schedule and return the fields of a shard (docs/distillation.md)."""
    drawn = draw(schedule)
    played = closed_loop.run(policy, episodes(schedule), threads=threads, record=True)
    assert played.obs is not None and played.actions is not None
    valid = np.arange(TIMEOUT_STEPS) < played.steps[:, None]
    requested = np.clip(played.actions, -1.0, 1.0)
    labels, shown = requested, played.obs
    if without_faults:
        assert played.truth is not None
        shown = as_without_faults(played.obs, played.truth, drawn.blackout)
    if teacher is not None or without_faults:
        labels = shadow_labels(teacher or policy, shown, requested, played.steps, threads, played.truth)
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


def _file(number: int) -> str:
    return f"shard-{number:04d}.safetensors"


def _link(source: Path, target: Path) -> None:
    """Give a file a second name, or a copy where the file system knows no second names."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
