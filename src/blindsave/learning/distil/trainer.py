"""Prepare a family's training: parts of the data, their layouts, the state of all seeds."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from blindsave.learning.distil import epoch as epochs
from blindsave.learning.distil.config import Recipe
from blindsave.learning.distil.dataset import Episodes
from blindsave.learning.distil.engine import Engine, engine_for
from blindsave.learning.distil.epoch import Setting, initial_state
from blindsave.learning.distil.layout import (
    Layout,
    balanced_groups,
    batches,
    envelope,
    make_layout,
    permutation,
    training_layout,
)
from blindsave.learning.distil.model import make_table
from blindsave.learning.distil.state import Metrics, State
from blindsave.learning.distil.table import split
from blindsave.policies.students.family import Family
from blindsave.policies.students.training import to_jax

FLOAT32 = "highest"
"""Precision of matrix products: GPUs would otherwise round the factors."""


class Trainer:
    """Everything a family's training needs, ready to run epoch by epoch."""

    def __init__(
        self, family: Family, data: Episodes, seeds: Sequence[int], recipe: Recipe, engine: Engine | None = None
    ) -> None:
        self.family, self.seeds, self.recipe = family, tuple(seeds), recipe
        self.engine = engine or engine_for(family)
        self.parts = split(data)
        self.lengths = data.steps.astype(np.int64)
        self.table = make_table(family, data)
        self.batch = min(recipe.batch, len(self.parts["train"]))
        own = self.lengths[self.parts["train"]]
        layout = training_layout(own, self.seeds, recipe.epochs, self.batch, recipe.chunk, self.engine.segment)
        evaluation, self._validation = self._groups("validation")
        # The number of epochs decides nothing within one: trainings that differ in it share a program.
        self.setting = Setting(family, replace(recipe, epochs=1), self.engine, layout, evaluation)

    @property
    def layout(self) -> Layout:
        """How training batches are laid out."""
        return self.setting.layout

    @property
    def valid_transitions(self) -> int:
        """Real training steps per epoch and seed."""
        return int(self.lengths[self.parts["train"]].sum())

    def initial(self) -> State:
        """All seeds before the first epoch."""
        states = [initial_state(to_jax(self.family.init(seed))) for seed in self.seeds]
        return jax.tree.map(lambda *leaves: jnp.stack(leaves), *states)

    def batches(self, epoch: int) -> np.ndarray:
        """The batches (seeds, n, batch) of an epoch, counted from one, as episode numbers."""
        chosen = self.parts["train"]
        orders = [chosen[permutation(seed, epoch, len(chosen))] for seed in self.seeds]
        return np.stack([batches(order, self.lengths, self.batch) for order in orders])

    def run_epoch(self, state: State, epoch: int) -> tuple[State, Metrics]:
        """One epoch of every seed that has not stopped; the given state is used up."""
        with jax.default_matmul_precision(FLOAT32):
            return epochs.run_epoch(self.setting, state, self.batches(epoch), self.table, self._validation)

    def evaluate(self, params: dict[str, Any], part: str) -> np.ndarray:
        """Equal-episode error of every seed's parameters on `train`, `validation` or `test`; NaN for an empty part."""
        if not len(self.parts[part]):
            return np.full(len(self.seeds), np.nan, np.float32)
        layout, groups = self._groups(part)
        with jax.default_matmul_precision(FLOAT32):
            return np.asarray(epochs.evaluate(replace(self.setting, evaluation=layout), params, self.table, groups))

    def _groups(self, part: str) -> tuple[Layout, Any]:
        chosen = self.parts[part]
        groups = balanced_groups(self.lengths[chosen], self.engine.evaluation_batch)
        groups = np.where(groups < 0, -1, chosen[groups]).astype(np.int32)
        layout = make_layout(envelope([groups], self.lengths), self.recipe.chunk, self.engine.segment)
        return layout, jnp.asarray(groups)
