"""Train the students of several datasets side by side: one program on one device, every lane with its own episodes.

On a GPU a training of small students waits for kernels to start, not for arithmetic, so fifty of them take hardly
longer than five. Each lane sees exactly the batches it would see alone.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import numpy as np

from blindsave.errors import BadInput
from blindsave.learning.distil.config import Recipe
from blindsave.learning.distil.dataset import Episodes
from blindsave.learning.distil.epoch import Setting
from blindsave.learning.distil.execution import Execution, execution_for
from blindsave.learning.distil.jax_trainer import JaxTrainer
from blindsave.learning.distil.layout import (
    BatchLayout,
    balanced_groups,
    batches,
    envelope,
    make_layout,
    permutation,
)
from blindsave.learning.distil.model import Table
from blindsave.learning.distil.state import Metrics, Moments, State
from blindsave.learning.distil.table import split, table_rows
from blindsave.learning.distil.training_set import TrainingSet
from blindsave.policies.students.family import Family

EVALUATION_BATCH = 512
"""Episodes of a lane that are validated together: all at once would not fit where there are fifty lanes."""


SAMPLED, ROOM = 3, 20
"""Epochs whose batches are looked at before a layout is made, and in which steps ranks are added to what they need.

With less room some later epoch does not fit, and compiling again may take as long as a hundred small epochs."""


class FleetTrainer(JaxTrainer):
    """One lane per dataset and seed, in the order of the sets; all sets have equally many episodes of every part."""

    def __init__(
        self, family: Family, sets: Sequence[TrainingSet], recipe: Recipe, execution: Execution | None = None
    ) -> None:
        self.family, self.recipe = family, recipe
        self.seeds = tuple(seed for one in sets for seed in one.seeds)
        starts = np.cumsum([0, *(len(one.data) for one in sets)])
        parts = [
            {name: chosen + start for name, chosen in split(one.data).items()}
            for one, start in zip(sets, starts, strict=False)
        ]
        if len({tuple(len(chosen) for chosen in part.values()) for part in parts}) > 1:
            raise BadInput("datasets that are trained on side by side must have equally many episodes of every part")
        self.parts = parts[0]
        self._lanes = [part for part, one in zip(parts, sets, strict=True) for _ in one.seeds]
        self.lengths = np.concatenate([one.data.steps for one in sets]).astype(np.int64)
        self.batch = min(recipe.batch, len(self.parts["train"]))
        self.execution = execution or execution_for(family, evaluation_batch=EVALUATION_BATCH)
        self.table = _joint_table(family, [one.data for one in sets])
        # Looking at every batch beforehand would take minutes: a few epochs and some room, and more room when needed.
        self._longest = np.max([self._envelope(epoch) for epoch in range(1, min(SAMPLED, recipe.epochs) + 1)], axis=0)
        layout = self._layout(self._longest)
        evaluation, self._validation = self._groups("validation")
        self.setting = Setting(family, replace(recipe, epochs=1), self.execution, layout, evaluation)

    def train(self, state: State, order: np.ndarray) -> tuple[dict[str, Any], Moments, Metrics]:
        """As declared, in a layout that holds these batches."""
        self.setting = replace(self.setting, layout=self._layout(envelope(order, self.lengths)))
        return super().train(state, order)

    def _layout(self, longest: np.ndarray) -> BatchLayout:
        """The tightest of a few layouts that holds batches with so long episodes at each rank.

        It depends on nothing that happened before: rounding follows the layout, and a continued training must round as
        an uninterrupted one does. Every epoch has all episodes, so that the roomiest layout always holds them.
        """
        rooms = range(ROOM, len(self._longest) + ROOM, ROOM)
        layouts = (
            make_layout(_roomier(self._longest, room), self.recipe.chunk, self.execution.segment) for room in rooms
        )
        return next(layout for layout in layouts if layout.holds(longest))

    def _envelope(self, epoch: int) -> np.ndarray:
        return envelope(self.batches(epoch), self.lengths)

    def batches(self, epoch: int) -> np.ndarray:
        """As declared; every lane's from its own episodes."""
        lanes = zip(self._lanes, self.seeds, strict=True)
        return np.stack([self._order(part["train"], seed, epoch) for part, seed in lanes])

    def _order(self, chosen: np.ndarray, seed: int, epoch: int) -> np.ndarray:
        return batches(chosen[permutation(seed, epoch, len(chosen))], self.lengths, self.batch)

    def _groups(self, part: str) -> tuple[BatchLayout, Any]:
        """Every lane's groups (lanes, groups, episodes), and a layout that fits all of them."""
        found: dict[int, np.ndarray] = {}
        for lane in self._lanes:
            if id(lane) not in found:
                chosen = lane[part]
                groups = balanced_groups(self.lengths[chosen], self.execution.evaluation_batch)
                found[id(lane)] = np.where(groups < 0, -1, chosen[groups]).astype(np.int32)
        layout = make_layout(envelope(found.values(), self.lengths), self.recipe.chunk, self.execution.segment)
        return layout, jnp.asarray(np.stack([found[id(lane)] for lane in self._lanes]))


def _roomier(longest: np.ndarray, room: int) -> np.ndarray:
    """The longest episode at each rank, if there were so many more of the longest."""
    return np.concatenate([np.repeat(longest[:1], room), longest])[: len(longest)]


def _joint_table(family: Family, data: Sequence[Episodes]) -> Table:
    """All episodes one after another, as if they were one dataset's."""
    steps = np.concatenate([one.steps for one in data])
    if int(steps.sum(dtype=np.int64)) >= 2**31:
        raise BadInput("more than 2**31 transitions do not fit into one table")
    offsets = np.concatenate([[0], np.cumsum(steps, dtype=np.int64)])[:-1].astype(np.int32)
    rows = jnp.concatenate([jnp.asarray(table_rows(family, one)) for one in data])
    return Table(rows, jnp.asarray(offsets), jnp.asarray(steps.astype(np.int32)))
