"""Fit students to several datasets side by side: one program, and for each dataset the checkpoint it would have alone.

A checkpoint does not say who trained beside it, so a killed fleet goes on as a fleet, as single trainings or in other
company. In the same company, on a CPU, it goes on to the same bits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from blindsave.learning.distil.checkpoint import load_checkpoint, save_checkpoint
from blindsave.learning.distil.config import PAPER, Recipe
from blindsave.learning.distil.execution import Execution
from blindsave.learning.distil.fit import Fitted, Report, identity_of, late, out_of_time, run_epoch, selected
from blindsave.learning.distil.history import History
from blindsave.learning.distil.state import Metrics, State, joined, some
from blindsave.learning.distil.trainer import Trainer
from blindsave.learning.distil.training_set import TrainingSet
from blindsave.policies.students.family import Family


@dataclass(eq=False)
class _Member:
    """The lanes of one dataset, and how far they are."""

    wanted: TrainingSet
    lanes: slice
    identity: dict[str, Any]
    history: History

    def done(self, state: State, epochs: int) -> bool:
        return len(self.history) >= epochs or bool(np.asarray(state.stopped)[self.lanes].all())

    def save(self, state: State) -> None:
        if self.wanted.checkpoint is not None:
            save_checkpoint(self.wanted.checkpoint, some(state, self.lanes), self.history, self.identity)


def fit_together(
    family: Family,
    sets: Sequence[TrainingSet],
    *,
    recipe: Recipe = PAPER,
    stage: str = "final",
    execution: Execution | None = None,
    checkpoint_every: int = 1,
    deadline: float | None = None,
    report: Report | None = None,
) -> list[Fitted]:
    """Like `fit` for several datasets, with JAX and in one program; one result per dataset.

    A set with a `checkpoint` continues from that file if it exists. `report` is told of the epochs of this call.
    """
    from blindsave.learning.distil.fleet_trainer import FleetTrainer

    trainer = FleetTrainer(family, sets, recipe, execution)
    members, state = _begun(trainer, sets)
    state = _trained(trainer, members, state, checkpoint_every, deadline, report)
    test, found = trainer.evaluate(state.best, "test"), []
    for member in members:
        one, own, errors = member.wanted, some(state, member.lanes), test[member.lanes]
        students = selected(family, one.seeds, own, one.data, stage, one.dataset, errors)
        found.append(Fitted(students, member.history, errors))
    return found


def _begun(trainer: Trainer, sets: Sequence[TrainingSet]) -> tuple[list[_Member], State]:
    """Every dataset where its checkpoint says it is, or before its first epoch."""
    fresh, members, states, begin = trainer.initial(), [], [], 0
    for one in sets:
        lanes = slice(begin, begin := begin + len(one.seeds))
        identity = identity_of(trainer.family, one.seeds, trainer.recipe, one.dataset)
        own, history = some(fresh, lanes), History.empty(len(one.seeds))
        if one.checkpoint is not None and one.checkpoint.exists():
            own, history = load_checkpoint(one.checkpoint, own, identity)
        members.append(_Member(one, lanes, identity, history))
        states.append(own)
    return members, joined(states)


def _trained(
    trainer: Trainer,
    members: Sequence[_Member],
    state: State,
    checkpoint_every: int,
    deadline: float | None,
    report: Report | None,
) -> State:
    """Run epochs until every member is done.

    Members may stand at different epochs: one was trained alone before, or the kill came between two checkpoints. Those
    behind go first and the others rest until all are level. That takes as many epochs as the last one lacks, which no
    other order could better, and every epoch finds the batches of all lanes, hence the layout, that it always has.
    """
    epochs, told = trainer.recipe.epochs, History.empty(len(trainer.seeds))
    while running := [member for member in members if not member.done(state, epochs)]:
        epoch = min(len(member.history) for member in running)
        if late(deadline):
            for member in running:
                member.save(state)
            raise out_of_time(trainer, epoch)
        turn = [member for member in running if len(member.history) == epoch]
        state, metrics, seconds = _epoch_of(trainer, turn, state, epoch + 1)
        told = told.appended(metrics._asdict(), seconds)
        for member in turn:
            own = {name: values[member.lanes] for name, values in metrics._asdict().items()}
            member.history = member.history.appended(own, seconds)
            # The end is kept, too: artifacts are written one by one, and a kill among them must not undo trainings.
            if (epoch + 1) % checkpoint_every == 0 or member.done(state, epochs):
                member.save(state)
        if report:
            report(epoch + 1, told, np.asarray(state.stopped))
    return state


def _epoch_of(trainer: Trainer, members: Sequence[_Member], state: State, epoch: int) -> tuple[State, Metrics, float]:
    """An epoch of some members; the lanes of the others rest, as those of seeds that have stopped do."""
    resting, stopped = np.ones(len(trainer.seeds), bool), np.asarray(state.stopped)
    for member in members:
        resting[member.lanes] = False
    after, metrics, seconds = run_epoch(trainer, state._replace(stopped=stopped | resting), epoch)
    return after._replace(stopped=np.where(resting, stopped, after.stopped)), metrics, seconds
