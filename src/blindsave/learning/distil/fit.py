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
from blindsave.learning.distil.state import State, leaves, rebuild
from blindsave.learning.distil.trainer import Trainer
from blindsave.learning.distil.training_set import TrainingSet
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
    identity = {"family": family.name, "seeds": list(seeds), "recipe": asdict(recipe), "dataset": dataset}
    state, history = trained(trainer, identity, checkpoint, checkpoint_every, deadline, report)
    test = trainer.evaluate(state.best, "test")
    return Fitted(_students(family, seeds, state, data, stage, dataset, test), history, test)


def fit_together(
    family: Family,
    sets: Sequence[TrainingSet],
    *,
    recipe: Recipe = PAPER,
    stage: str = "final",
    execution: Execution | None = None,
    deadline: float | None = None,
    report: Report | None = None,
) -> list[Fitted]:
    """Like `fit` for several datasets, with JAX and in one program; one result per dataset."""
    from blindsave.learning.distil.fleet_trainer import FleetTrainer

    trainer = FleetTrainer(family, sets, recipe, execution)
    state, history = trained(trainer, {}, deadline=deadline, report=report)
    test, found, begin = trainer.evaluate(state.best, "test"), [], 0
    for one in sets:
        lanes = slice(begin, begin := begin + len(one.seeds))
        own, errors = _lanes(state, lanes), test[lanes]
        students = _students(family, one.seeds, own, one.data, stage, one.dataset, errors)
        found.append(Fitted(students, history.of(lanes), errors))
    return found


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
        late = deadline is not None and time.monotonic() > deadline
        if late:
            if checkpoint is not None:
                save_checkpoint(checkpoint, state, history, identity)
            raise OutOfTime(
                f"time is up after epoch {len(history)} of {trainer.family.name}; run the same command again"
            )
        state, history = _epoch(trainer, state, history)
        if checkpoint is not None and len(history) % checkpoint_every == 0:
            save_checkpoint(checkpoint, state, history, identity)
        if report:
            report(len(history), history, np.asarray(state.stopped))
    return state, history


def _epoch(trainer: Trainer, state: State, history: History) -> tuple[State, History]:
    started = time.perf_counter()
    running = ~np.asarray(state.stopped)
    state, metrics = trainer.run_epoch(state, len(history) + 1)
    history = history.appended(metrics._asdict(), time.perf_counter() - started)
    for name in ("train_loss", "validation_loss"):
        bad = running & ~np.isfinite(getattr(metrics, name))
        if bad.any():
            seed = trainer.seeds[int(bad.argmax())]
            raise DivergedError(f"{trainer.family.name}, seed {seed}: {name} is not finite in epoch {len(history)}")
    return state, history


def _lanes(tree: Any, lanes: slice) -> Any:
    return rebuild(tree, [leaf[lanes] for leaf in leaves(tree)])


def _students(
    family: Family, seeds: Sequence[int], state: State, data: Episodes, stage: str, dataset: str, test: np.ndarray
) -> list[Student]:
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
