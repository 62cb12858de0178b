"""Train students with JAX: all seeds in one compiled call per epoch, on whatever device JAX has."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from blindsave.learning.distil import epoch as epochs
from blindsave.learning.distil.config import Recipe
from blindsave.learning.distil.dataset import Episodes
from blindsave.learning.distil.epoch import Setting
from blindsave.learning.distil.execution import Execution, execution_for
from blindsave.learning.distil.layout import BatchLayout, balanced_groups, envelope, make_layout, training_layout
from blindsave.learning.distil.model import make_table
from blindsave.learning.distil.state import Metrics, Moments, State
from blindsave.learning.distil.trainer import Trainer
from blindsave.policies.students.family import Family

FLOAT32 = "highest"
"""Precision of matrix products: GPUs would otherwise round the factors."""


class JaxTrainer(Trainer):
    """A family's training as compiled programs; `execution` says how they run."""

    def __init__(
        self, family: Family, data: Episodes, seeds: Sequence[int], recipe: Recipe, execution: Execution | None = None
    ) -> None:
        super().__init__(family, data, seeds, recipe)
        self.execution = execution or execution_for(family)
        self.table = make_table(family, data)
        own = self.lengths[self.parts["train"]]
        layout = training_layout(own, self.seeds, recipe.epochs, self.batch, recipe.chunk, self.execution.segment)
        evaluation, self._validation = self._groups("validation")
        # The number of epochs decides nothing within one: trainings that differ in it share a program.
        self.setting = Setting(family, replace(recipe, epochs=1), self.execution, layout, evaluation)

    def train(self, state: State, order: np.ndarray) -> tuple[dict[str, Any], Moments, Metrics]:
        """One compiled call for all seeds."""
        learned = state.params, state.moments, state.stopped
        with jax.default_matmul_precision(FLOAT32):
            params, moments, metrics = epochs.run_epoch(self.setting, *learned, order, self.table, self._validation)
        return params, moments, Metrics(*map(np.asarray, metrics))

    def evaluate(self, params: dict[str, Any], part: str) -> np.ndarray:
        """As declared."""
        if not len(self.parts[part]):
            return np.full(len(self.seeds), np.nan, np.float32)
        layout, groups = self._groups(part)
        with jax.default_matmul_precision(FLOAT32):
            return np.asarray(epochs.evaluate(replace(self.setting, evaluation=layout), params, self.table, groups))

    def _groups(self, part: str) -> tuple[BatchLayout, Any]:
        chosen = self.parts[part]
        groups = balanced_groups(self.lengths[chosen], self.execution.evaluation_batch)
        groups = np.where(groups < 0, -1, chosen[groups]).astype(np.int32)
        layout = make_layout(envelope([groups], self.lengths), self.recipe.chunk, self.execution.segment)
        return layout, jnp.asarray(groups)
