"""What every trainer of students shares: parts of the data, the order of batches, the state of all seeds."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from blindsave.learning.distil.config import Recipe
from blindsave.learning.distil.dataset import Episodes
from blindsave.learning.distil.layout import batches, permutation
from blindsave.learning.distil.state import Metrics, Moments, State, fresh_state, judged
from blindsave.learning.distil.table import split
from blindsave.policies.students.family import Family


class Trainer(ABC):
    """Everything a family's training needs, ready to run epoch by epoch."""

    def __init__(self, family: Family, data: Episodes, seeds: Sequence[int], recipe: Recipe) -> None:
        self.family, self.seeds, self.recipe = family, tuple(seeds), recipe
        self.parts = split(data)
        self.lengths = data.steps.astype(np.int64)
        self.batch = min(recipe.batch, len(self.parts["train"]))

    @property
    def valid_transitions(self) -> int:
        """Real training steps per epoch and seed."""
        return int(self.lengths[self.parts["train"]].sum())

    def initial(self) -> State:
        """All seeds before the first epoch."""
        return fresh_state([self.family.init(seed) for seed in self.seeds])

    def batches(self, epoch: int) -> np.ndarray:
        """The batches (seeds, n, batch) of an epoch, counted from one, as episode numbers."""
        chosen = self.parts["train"]
        orders = [chosen[permutation(seed, epoch, len(chosen))] for seed in self.seeds]
        return np.stack([batches(order, self.lengths, self.batch) for order in orders])

    def run_epoch(self, state: State, epoch: int) -> tuple[State, Metrics]:
        """One epoch of every seed that has not stopped, and its validation."""
        params, moments, metrics = self.train(state, self.batches(epoch))
        return judged(self.recipe, state, params, moments, metrics.validation_loss), metrics

    @abstractmethod
    def train(self, state: State, order: np.ndarray) -> tuple[dict[str, Any], Moments, Metrics]:
        """Parameters and moments after these batches, and what to report of them; seeds that have stopped stay."""

    @abstractmethod
    def evaluate(self, params: dict[str, Any], part: str) -> np.ndarray:
        """Equal-episode error of every seed's parameters on `train`, `validation` or `test`; NaN for an empty part."""
