"""The two stages: collectors on the common base data, finals on base plus the family's own shadow data.

    base     teacher episodes, the same for all families
    collectors  one student per seed, trained on the base
    shadow   episodes played by the collectors, labelled by the teacher that follows them
    finals   new students from scratch, trained on base and shadow

Every step is an artifact below the work folder: done once, verified when found again.
"""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from blindsave import store
from blindsave.learning.distil.collection import Collection
from blindsave.learning.distil.config import PAPER, Recipe
from blindsave.learning.distil.dataset import Dataset, Episodes, concatenate
from blindsave.learning.distil.deadline import OutOfTime
from blindsave.learning.distil.fit import Fitted, Report, fit
from blindsave.learning.distil.history import History
from blindsave.learning.distil.schedule import (
    EPISODES,
    SHADOW_SEED,
    TRAINING_SEEDS,
    CollectionSchedule,
    base_schedule,
    shadow_schedules,
)
from blindsave.learning.distil.shadow import Teacher
from blindsave.learning.distil.training_set import TrainingSet
from blindsave.policies.base import Policy
from blindsave.policies.students.registry import family as family_of
from blindsave.policies.students.student import Student, load_student
from blindsave.progress import Progress
from blindsave.task.mixture import Shares

STUDENTS = "students"
METRICS = "metrics.jsonl"
COLLECTOR, FINAL = "collector", "final"
MANY = 10
"""More seeds than this are not named one by one while they train."""


class TeacherPolicy(Teacher, Policy, Protocol):
    """A teacher that can also play."""


@dataclass(frozen=True)
class Budget:
    """How much of everything; the defaults are the study's."""

    base_episodes: int = EPISODES
    shadow_episodes: int = EPISODES
    """Per family, shared equally by its collectors."""
    seeds: tuple[int, ...] = TRAINING_SEEDS
    recipe: Recipe = PAPER
    shadow_seed: int = SHADOW_SEED
    conditions: Shares = ()
    """What happens in the episodes besides blackouts, as (name, share); nothing by default."""
    undisturbed_labels: bool = False
    """Whether the teacher labels what it would have seen without those faults."""


@dataclass
class Pipeline:
    """The stages of one teacher within one budget, in one work folder."""

    work: Path
    teacher: TeacherPolicy
    teacher_sha256: str
    budget: Budget = field(default_factory=Budget)
    threads: int | None = None
    deadline: float | None = None
    """In seconds of `time.monotonic`; after it, work stops with `OutOfTime` and can be continued."""
    checkpoint_every: int = 5
    quiet: bool = False
    fitted: dict[tuple[str, str], Fitted] = field(default_factory=dict, repr=False)
    """Trainings (family, stage) that were made side by side with those of other pipelines (`fleet`)."""
    _base: Dataset | None = field(default=None, init=False, repr=False)

    def base(self) -> Dataset:
        """Teacher episodes; verified once per pipeline, since every family starts from them."""
        if self._base is None:
            self._base = self._dataset("base episodes", self.base_collection())
        return self._base

    def base_collection(self) -> Collection:
        """How the base is collected."""
        budget = self.budget
        return self._collection(self.teacher, base_schedule(budget.base_episodes, budget.conditions), {}, None)

    def collectors(self, family: str) -> store.Artifact:
        """First-stage students."""
        return self._train(family, COLLECTOR)

    def shadow(self, family: str) -> list[Dataset]:
        """One dataset per collector."""
        return [
            self._dataset(f"{family}: shadow episodes of {seed}", self.shadow_collection(family, seed))
            for seed in self.budget.seeds
        ]

    def shadow_collection(self, family: str, seed: int) -> Collection:
        """How the episodes of one collector are collected and labelled."""
        budget = self.budget
        schedules = shadow_schedules(
            budget.shadow_episodes, budget.seeds, budget.base_episodes, budget.shadow_seed, budget.conditions
        )
        student, sha256 = open_student(self.collectors(family), seed)
        return self._collection(student, schedules[seed], {"student": sha256}, self.teacher)

    def finals(self, family: str) -> store.Artifact:
        """Second-stage students."""
        return self._train(family, FINAL)

    def run(self, family: str) -> dict[str, Any]:
        """Everything a family needs, and what it took."""
        shadow, finals = self.shadow(family), self.finals(family)
        summary = {
            "family": family,
            "base": _counts([self.base()]),
            "shadow": _counts(shadow) | {"labelled_by": self.teacher.name},
            "collectors": self.collectors(family).manifest["result"],
            "finals": finals.manifest["result"],
            "finals_folder": str(finals.folder.relative_to(self.work)),
        }
        store.write_json(self.work / "summary" / f"{family}.json", summary)
        return summary

    def prepare(self, title: str, collection: Collection, shard: int) -> None:
        """Play one shard of a collection, which `base` or `shadow` will put together."""
        self._check_time(title)
        if self.found(collection) is None:
            collection.prepare(shard)

    def found(self, collection: Collection) -> Dataset | None:
        """A dataset that need not be collected, although its episodes are not in the work folder."""
        return None

    def episodes(self, dataset: Dataset) -> Episodes:
        """What is trained on."""
        return dataset.episodes

    def _collection(
        self, policy: Policy, schedule: CollectionSchedule, inputs: dict[str, str], teacher: Teacher | None
    ) -> Collection:
        inputs = {"teacher": self.teacher_sha256, **inputs}
        without_faults = self.budget.undisturbed_labels
        return Collection(self.work, policy, schedule, inputs, teacher, self.threads, undisturbed=without_faults)

    def _dataset(self, title: str, collection: Collection) -> Dataset:
        self._check_time(title)
        found = self.found(collection)
        if found is not None:
            return found
        with Progress(title, collection.schedule.episodes, quiet=self.quiet) as progress:
            return collection.dataset(progress.advance)

    def training_set(self, family: str, stage: str) -> TrainingSet | None:
        """What the students of a stage are trained on; None where they are there already."""
        datasets = self._datasets(family, stage)
        configuration, inputs = self._identity(family, stage, datasets)
        place = store.artifact_folder(self.work, STUDENTS, configuration, inputs)
        if place.exists():
            return None
        data = concatenate([self.episodes(dataset) for dataset in datasets])
        return TrainingSet(data, self.budget.seeds, store.digest(inputs), self._checkpoint(place))

    def _checkpoint(self, place: Path) -> Path:
        """Where the training of a students artifact keeps how far it is."""
        return self.work / "checkpoints" / f"{place.name}.safetensors"

    def _datasets(self, family: str, stage: str) -> list[Dataset]:
        return [self.base(), *(self.shadow(family) if stage == FINAL else ())]

    def _identity(self, family: str, stage: str, datasets: Sequence[Dataset]) -> tuple[dict[str, Any], dict[str, str]]:
        """What decides the students of a stage."""
        budget = self.budget
        configuration = {
            "family": family,
            "stage": stage,
            "seeds": list(budget.seeds),
            "recipe": asdict(budget.recipe),
        }
        return configuration, {f"dataset-{i}": dataset.sha256 for i, dataset in enumerate(datasets)}

    def _train(self, family: str, stage: str) -> store.Artifact:
        datasets = self._datasets(family, stage)
        configuration, inputs = self._identity(family, stage, datasets)
        place = store.artifact_folder(self.work, STUDENTS, configuration, inputs)
        checkpoint = self._checkpoint(place)

        def build(folder: Path) -> dict[str, Any]:
            self._check_time(f"{family}: {stage}s")
            data = concatenate([self.episodes(dataset) for dataset in datasets])
            fitted = self.fitted.get((family, stage)) or self._fit(
                family, stage, data, store.digest(inputs), checkpoint
            )
            for student in fitted.students:
                student.save(folder / f"{student.provenance.seed}.safetensors")
            (folder / METRICS).write_text(fitted.history.lines(self.budget.seeds))
            return describe(fitted, data)

        artifact = store.make(self.work, STUDENTS, configuration, inputs, build)
        checkpoint.unlink(missing_ok=True)
        return artifact

    def _fit(self, family: str, stage: str, data: Episodes, dataset: str, checkpoint: Path) -> Fitted:
        budget = self.budget
        with Progress(f"{family}: {stage}s", budget.recipe.epochs, quiet=self.quiet) as progress:
            return fit(
                family_of(family),
                data,
                seeds=budget.seeds,
                recipe=budget.recipe,
                stage=stage,
                dataset=dataset,
                threads=self.threads,
                checkpoint=checkpoint,
                checkpoint_every=self.checkpoint_every,
                deadline=self.deadline,
                report=reporting(progress),
            )

    def _check_time(self, what: str) -> None:
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise OutOfTime(f"time is up before {what}; run the same command again")


def reporting(progress: Progress) -> Report:
    """Tell a progress bar of every epoch: all validation errors, or the least, middle and greatest of many."""

    def report(epoch: int, history: History, stopped: np.ndarray) -> None:
        last = history.validation_loss[-1]
        if len(last) > MANY:
            last = np.nanquantile(last, (0, 0.5, 1))
        errors = " ".join(f"{error:.4f}" for error in last)
        progress.at(epoch, f"validation {errors}, {history.seconds[-1]:.2f} s per epoch")

    return report


def open_student(artifact: store.Artifact, seed: int) -> tuple[Student, str]:
    """One student of a students artifact and its file's SHA-256."""
    name = f"{seed}.safetensors"
    return load_student(artifact.path(name)), artifact.manifest["files"][name]["sha256"]


def describe(fitted: Fitted, data: Episodes) -> dict[str, Any]:
    """What a training gave, JSON-ready."""
    return {
        "episodes": len(data),
        "transitions": len(data.obs),
        "training_s": round(float(fitted.history.seconds.sum()), 3),
        "students": [
            {
                "seed": s.provenance.seed,
                "selected_epoch": s.provenance.selected_epoch,
                "validation_mse": s.provenance.validation_mse,
                **s.provenance.notes,
            }
            for s in fitted.students
        ],
    }


def _counts(datasets: Sequence[Dataset]) -> dict[str, int]:
    results = [dataset.artifact.manifest["result"] for dataset in datasets]
    return {name: sum(result[name] for result in results) for name in ("episodes", "transitions", "shadow_queries")}
