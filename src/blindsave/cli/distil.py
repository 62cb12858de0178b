"""Commands about distillation: datasets, the two stages, their pictures and diagnostics."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import tyro

from blindsave.cli.shared import Threads, facts, print_table
from blindsave.cli.targets import OutFile, OutFolder
from blindsave.errors import BadFile, BadInput
from blindsave.learning.distil.config import PAPER, Recipe
from blindsave.learning.distil.pipeline import Budget
from blindsave.learning.distil.schedule import EPISODES, TRAINING_SEEDS
from blindsave.policies.students.registry import PAPER_FAMILIES


@dataclass(frozen=True)
class DatasetInfo:
    """Describe a dataset: episodes, transitions, repeated pairs, outcomes."""

    folder: tyro.conf.Positional[Path]
    """Dataset folder (the one with manifest.json)."""

    def run(self) -> dict[str, Any]:
        """Count."""
        from blindsave.learning.distil.dataset import Dataset, summary

        dataset = Dataset.open(self.folder)
        return {"sha256": dataset.sha256, **dataset.configuration, **summary(dataset)}


@dataclass(frozen=True)
class DatasetVerify:
    """Check a dataset: every byte against the manifest, the schedule redrawn, values in range, repeats identical."""

    folder: tyro.conf.Positional[Path]
    """Dataset folder (the one with manifest.json)."""

    def run(self) -> dict[str, Any]:
        """Check; the first offence is the error."""
        from blindsave.learning.distil.dataset import Dataset, audit_repeats, check

        dataset = Dataset.open(self.folder, verify=True)
        check(dataset)
        repeated, different = audit_repeats(dataset.episodes)
        if different:
            raise BadFile(f"{self.folder}: {different} of {repeated} repeated (shot, blackout) pairs differ")
        return {"sha256": dataset.sha256, "episodes": len(dataset.episodes), "repeated_pairs": repeated, "ok": True}

    def show(self, result: dict[str, Any]) -> None:
        """Say that all is well."""
        repeats = f"{result['repeated_pairs']} repeated pairs identical"
        print(f"{self.folder}: {result['episodes']} episodes verified, {repeats}")


@dataclass(frozen=True)
class DatasetExport:
    """Write a dataset in Minari's format (extra `export`)."""

    folder: tyro.conf.Positional[Path]
    """Dataset folder (the one with manifest.json)."""
    out: OutFolder
    """Folder of Minari datasets to write into."""
    name: str = "blindsave/episodes-v0"
    """Minari's name for the dataset."""

    def run(self) -> dict[str, Any]:
        """Export."""
        from blindsave.deploy.minari import export_minari, target_of
        from blindsave.learning.distil.dataset import Dataset

        target_of(self.name, self.out)  # before the dataset is read
        return {"path": str(export_minari(Dataset.open(self.folder, verify=True), self.name, self.out))}


@dataclass(frozen=True)
class DistilStudents:
    """Distil the teacher into families of students: base data, collectors, shadow data, finals. Resumes by itself."""

    work: OutFolder = Path("runs/students")
    """Where datasets, students and checkpoints are kept."""
    families: tuple[str, ...] = PAPER_FAMILIES
    """Families to distil."""
    teacher: Path | None = None
    """Teacher file, or the name of a policy that can teach, such as privileged; the shipped teacher by default."""
    conditions: tuple[str, ...] = ()
    """What happens in the episodes, in equal shares, such as clean noise_5mm (`blindsave conditions`)."""
    undisturbed_labels: bool = False
    """Let the teacher label what it would have seen without these conditions."""
    base_episodes: int = EPISODES
    """Teacher episodes."""
    shadow_episodes: int = EPISODES
    """Episodes per family played by its collectors."""
    epochs: int = PAPER.epochs
    """Most epochs of a training."""
    seeds: tuple[int, ...] = TRAINING_SEEDS
    """Training seeds."""
    minutes: float | None = None
    """Stop after this time; the same command continues."""
    threads: Threads = None
    parallel: int = 1
    """Families distilled at the same time, each in its own process (useful with a GPU)."""

    def run(self) -> dict[str, Any]:
        """Distil."""
        from blindsave.learning.distil.workshop import Workshop, distil, minutes_from_now
        from blindsave.task.conditions import CLEAN_NAME
        from blindsave.task.mixture import Mixture

        if not self.seeds or len(set(self.seeds)) < len(self.seeds):
            raise BadInput("distillation needs at least one training seed, and none twice")
        recipe, shares = Recipe(epochs=self.epochs), Mixture.of(self.conditions or CLEAN_NAME).shares_by_name
        budget = Budget(
            self.base_episodes,
            self.shadow_episodes,
            self.seeds,
            recipe,
            conditions=shares,
            undisturbed_labels=self.undisturbed_labels,
        )
        shop = Workshop(self.work, self.teacher, budget, self.threads, minutes_from_now(self.minutes))
        return distil(shop, self.families, self.parallel)

    def show(self, result: dict[str, Any]) -> None:
        """Print one line per family."""
        rows = []
        for name, row in result["families"].items():
            students = row["finals"]["students"]
            errors = " ".join(f"{s['validation_mse']:.4f}" for s in students)
            epochs = " ".join(str(s["selected_epoch"]) for s in students)
            rows.append([name, str(row["shadow"]["transitions"]), errors, epochs])
        print_table("students", ["family", "shadow transitions", "validation MSE by seed", "selected epochs"], rows)


@dataclass(frozen=True)
class DistilPilot:
    """Train the k = 2 pilot without and with shadow-teacher correction and measure how far its histories stray."""

    work: OutFolder = Path("runs/pilot")
    """Where datasets and students are kept; the base data of `distil students` is reused from the same folder."""
    teacher: Path | None = None
    """Teacher file, or the name of a policy that can teach, such as privileged; the shipped teacher by default."""
    base_episodes: int = EPISODES
    """Teacher episodes."""
    shadow_episodes: int = EPISODES
    """Episodes played by the collector."""
    epochs: int = PAPER.epochs
    """Most epochs of a training."""
    threads: Threads = None

    def run(self) -> dict[str, Any]:
        """Run both trainings and the diagnostics."""
        from blindsave.diagnostics.pilot import run_pilot
        from blindsave.learning.distil.workshop import Workshop, open_pipeline

        budget = Budget(self.base_episodes, self.shadow_episodes, recipe=Recipe(epochs=self.epochs))
        return run_pilot(open_pipeline(Workshop(self.work, self.teacher, budget, self.threads)))

    def show(self, result: dict[str, Any]) -> None:
        """Print both columns."""
        without, corrected = (facts(result[name]) for name in ("without_correction", "with_correction"))
        rows = [[name, text, corrected.get(name, "-")] for name, text in without.items()]
        title = f"{result['family']}/{result['seed']}; saves by hidden control steps"
        print_table(title, ["", "without correction", "with correction"], rows)


@dataclass(frozen=True)
class DistilCurves:
    """Draw the learning curves of a training (extra `report`)."""

    metrics: tyro.conf.Positional[Path]
    """metrics.jsonl of a students folder, or training/curves.parquet of a study's results."""
    out: OutFile
    """Picture to write: .png, .svg or .pdf."""
    family: str = ""
    """Whose curves, of a study's file."""
    stage: Literal["collectors", "finals"] = "finals"
    """Which of its trainings, of a study's file."""

    def run(self) -> dict[str, Any]:
        """Draw."""
        from blindsave.diagnostics.training_curves import draw_curves
        from blindsave.draw import figure_files

        (path,) = figure_files.save(lambda: draw_curves(self.metrics, self.family, self.stage), self.out)
        return {"path": str(path)}


@dataclass(frozen=True)
class DistilShip:
    """Copy the finals of a work folder to the models folder, where `FAMILY/SEED` finds them."""

    work: Path = Path("runs/students")
    """Work folder of `distil students`."""
    models: OutFolder | None = None
    """Models folder; the one this package reads by default."""

    def run(self) -> dict[str, Any]:
        """Copy."""
        from blindsave.learning.distil.packing import ship

        return {"files": [str(path) for path in ship(self.work, self.models)]}

    def show(self, result: dict[str, Any]) -> None:
        """Say how many."""
        print(f"{len(result['files'])} students shipped")


@dataclass(frozen=True)
class DistilPack:
    """Put the students of a work folder into one archive, to take them to another machine; episodes stay behind."""

    work: Path = Path("runs/students")
    """Work folder of `distil students`."""
    out: OutFile = Path("students.tar")
    """Archive to write: an ordinary tar, which `study --import` reads."""

    def run(self) -> dict[str, Any]:
        """Pack."""
        from blindsave.learning.distil.packing import pack

        return {"path": str(pack(self.work, self.out)[0])}

    def show(self, result: dict[str, Any]) -> None:
        """Say where it is."""
        print(result["path"])
