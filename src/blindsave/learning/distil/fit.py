"""Fit students to labelled episodes: epochs, early stopping, checkpoints, progress."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from blindsave.errors import BlindsaveError
from blindsave.learning.distil.checkpoint import load_checkpoint, save_checkpoint
from blindsave.learning.distil.choice import make_trainer
from blindsave.learning.distil.config import PAPER, Recipe
from blindsave.learning.distil.dataset import Episodes
from blindsave.learning.distil.deadline import OutOfTime
from blindsave.learning.distil.execution import Execution
from blindsave.learning.distil.history import History
from blindsave.learning.distil.schedule import TRAINING_SEEDS
from blindsave.learning.distil.state import Metrics, State
from blindsave.learning.distil.trainer import Trainer
from blindsave.policies.students.family import Family
from blindsave.policies.students.student import Provenance, Student

Report = Callable[[int, History, np.ndarray], None]
"""Called after every epoch with its number, the history so far and which seeds have stopped."""


class DivergedError(BlindsaveError):
    """A loss is not a number."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """The selected students of all seeds and how they came to be."""

    students: list[Student]
    history: History
    test_mse: np.ndarray
    """Error on the internal test part, reported once; NaN without such episodes."""


def fit(
    family: Family,
    data: Episodes,
    *,
    seeds: Sequence[int] = TRAINING_SEEDS,
    recipe: Recipe = PAPER,
    stage: str = "final",
    dataset: str = "",
    execution: Execution | None = None,
    threads: int | None = None,
    checkpoint: Path | None = None,
    checkpoint_every: int = 1,
    deadline: float | None = None,
    report: Report | None = None,
) -> Fitted:
    """Train one student per seed from scratch and return each seed's best epoch.

    With `checkpoint`, the training continues from that file if it exists and writes it every `checkpoint_every`
    epochs; a continued training equals an uninterrupted one. After `deadline` (of `time.monotonic`) it stops with
    `OutOfTime`.
    """
    trainer = make_trainer(family, data, seeds, recipe, execution, threads)
    identity = identity_of(family, seeds, recipe, dataset)
    state, history = trained(trainer, identity, checkpoint, checkpoint_every, deadline, report)
    test = trainer.evaluate(state.best, "test")
    return Fitted(selected(family, seeds, state, data, stage, dataset, test), history, test)


def identity_of(family: Family, seeds: Sequence[int], recipe: Recipe, dataset: str) -> dict[str, Any]:
    """Which training a checkpoint belongs to."""
    return {"family": family.name, "seeds": list(seeds), "recipe": asdict(recipe), "dataset": dataset}


def trained(
    trainer: Trainer,
    identity: dict[str, Any],
    checkpoint: Path | None = None,
    checkpoint_every: int = 1,
    deadline: float | None = None,
    report: Report | None = None,
) -> tuple[State, History]:
    """Run epochs until every seed has stopped."""
    state, history, epochs = trainer.initial(), History.empty(len(trainer.seeds)), trainer.recipe.epochs
    if checkpoint is not None and checkpoint.exists():
        state, history = load_checkpoint(checkpoint, state, identity)
    while len(history) < epochs and not np.asarray(state.stopped).all():
        if late(deadline):
            if checkpoint is not None:
                save_checkpoint(checkpoint, state, history, identity)
            raise out_of_time(trainer, len(history))
        state, metrics, seconds = run_epoch(trainer, state, len(history) + 1)
        history = history.appended(metrics._asdict(), seconds)
        if checkpoint is not None and len(history) % checkpoint_every == 0:
            save_checkpoint(checkpoint, state, history, identity)
        if report:
            report(len(history), history, np.asarray(state.stopped))
    return state, history


def run_epoch(trainer: Trainer, state: State, epoch: int) -> tuple[State, Metrics, float]:
    """One epoch, and the seconds it took; a loss that is no number ends the training."""
    started = time.perf_counter()
    running = ~np.asarray(state.stopped)
    state, metrics = trainer.run_epoch(state, epoch)
    seconds = time.perf_counter() - started
    for name in ("train_loss", "validation_loss"):
        bad = running & ~np.isfinite(getattr(metrics, name))
        if bad.any():
            seed = trainer.seeds[int(bad.argmax())]
            raise DivergedError(f"{trainer.family.name}, seed {seed}: {name} is not finite in epoch {epoch}")
    return state, metrics, seconds


def late(deadline: float | None) -> bool:
    """Whether a deadline has passed."""
    return deadline is not None and time.monotonic() > deadline


def out_of_time(trainer: Trainer, epoch: int) -> OutOfTime:
    """What is said of a training that has to stop after an epoch."""
    return OutOfTime(f"time is up after epoch {epoch} of {trainer.family.name}; run the same command again")


def selected(
    family: Family, seeds: Sequence[int], state: State, data: Episodes, stage: str, dataset: str, test: np.ndarray
) -> list[Student]:
    """The students of all seeds as they were in their best epochs."""
    students = []
    for i, seed in enumerate(seeds):
        notes: dict[str, Any] = {
            "epochs": int(state.epoch[i]),
            "updates": int(state.moments.count[i]),
            "episodes": len(data),
            "transitions": len(data.obs),
            "test_mse": float(test[i]) if np.isfinite(test[i]) else None,
        }
        provenance = Provenance(seed, stage, dataset, int(state.best_epoch[i]), float(state.best_loss[i]), notes)
        best = {name: np.asarray(value[i], np.float32) for name, value in state.best.items()}
        students.append(Student(family, best, provenance))
    return students
