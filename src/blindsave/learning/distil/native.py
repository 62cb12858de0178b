"""Train students in C, seed by seed: about twice as fast as JAX on a CPU, and the same bits on any number of cores.

Every seed is one sequence of small matrix products with one order of sums, so threads only decide which seed is
trained when. Processors with fused multiply-add (AVX2 or AVX-512) agree in every bit.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np

from blindsave.arena.native import threads_or_default
from blindsave.learning.distil.config import Recipe
from blindsave.learning.distil.dataset import Episodes
from blindsave.learning.distil.graph import training_graph
from blindsave.learning.distil.layout import batches, permutation
from blindsave.learning.distil.state import Metrics, Moments, State
from blindsave.learning.distil.table import split, table_rows
from blindsave.policies.students.family import Family
from blindsave.policies.trace import UnknownOperation

try:
    from blindsave.learning import _trainer as core  # pyright: ignore[reportAttributeAccessIssue]
except ImportError:  # installed without a compiler
    core = None


def trains_natively(family: Family) -> bool:
    """Can this family be trained in C here?"""
    if core is None:
        return False
    try:
        training_graph(family)
    except UnknownOperation:
        return False
    return True


class NativeTrainer:
    """Everything a family's training needs, ready to run epoch by epoch; the same face as the JAX `Trainer`."""

    def __init__(
        self,
        family: Family,
        data: Episodes,
        seeds: Sequence[int],
        recipe: Recipe,
        *,
        threads: int | None = None,
        path: str = "",
    ) -> None:
        self.family, self.seeds, self.recipe = family, tuple(seeds), recipe
        self.graph, self.path = training_graph(family), path
        self.threads = min(len(self.seeds), threads_or_default(threads))
        self.parts = split(data)
        self.lengths = data.steps.astype(np.int64)
        self.batch = min(recipe.batch, len(self.parts["train"]))
        self._table = (
            np.ascontiguousarray(table_rows(family, data)),
            np.ascontiguousarray(data.offsets[:-1], dtype=np.int64),
            np.ascontiguousarray(data.steps, dtype=np.int32),
        )

    @property
    def valid_transitions(self) -> int:
        """Real training steps per epoch and seed."""
        return int(self.lengths[self.parts["train"]].sum())

    def initial(self) -> State:
        """All seeds before the first epoch."""
        flat = np.stack([self.graph.flat(self.family.init(seed)) for seed in self.seeds])
        count = len(self.seeds)
        nothing = self.graph.named(np.zeros_like(flat))
        zero = np.zeros(count, np.int32)
        return State(
            self.graph.named(flat),
            Moments(nothing, {name: np.zeros_like(array) for name, array in nothing.items()}, zero.copy()),
            self.graph.named(flat.copy()),
            np.full(count, np.inf, np.float32),
            zero.copy(),
            zero.copy(),
            zero.copy(),
            np.zeros(count, bool),
        )

    def batches(self, epoch: int) -> np.ndarray:
        """The batches (seeds, n, batch) of an epoch, counted from one, as episode numbers."""
        return np.stack([self._batches(seed, epoch) for seed in self.seeds])

    def _batches(self, seed: int, epoch: int) -> np.ndarray:
        chosen = self.parts["train"]
        return batches(chosen[permutation(seed, epoch, len(chosen))], self.lengths, self.batch)

    def run_epoch(self, state: State, epoch: int) -> tuple[State, Metrics]:
        """One epoch of every seed that has not stopped."""
        stopped = np.asarray(state.stopped)
        running = np.flatnonzero(~stopped)
        flat = [self._flat(tree) for tree in (state.params, state.moments.first, state.moments.second)]
        counts = np.array(state.moments.count, np.int32)
        metrics = np.full((3, len(self.seeds)), np.nan, np.float32)

        def train(i: int) -> None:
            order = self._batches(self.seeds[i], epoch)
            parameters, first, second = (array[i] for array in flat)
            recipe = self.recipe
            loss, episodes, updates, norms = self._core.train(
                self.path, self.graph.description, *self._table, order, self.batch, parameters, first, second,
                int(counts[i]), recipe.chunk, recipe.learning_rate, recipe.weight_decay, recipe.clip,
            )  # fmt: skip
            counts[i] += updates
            metrics[:, i] = loss / episodes, self._error(parameters, "validation"), norms / updates

        self._for_all(train, running)
        params, first, second = flat
        moments = Moments(self.graph.named(first), self.graph.named(second), counts)
        return self._judge(state, params, moments, metrics[1], running), Metrics(*metrics)

    def evaluate(self, params: dict[str, Any], part: str) -> np.ndarray:
        """Equal-episode error of every seed's parameters on `train`, `validation` or `test`; NaN for an empty part."""
        found = np.full(len(self.seeds), np.nan, np.float32)
        if len(self.parts[part]):
            flat = self._flat(params)

            def measure(i: int) -> None:
                found[i] = self._error(flat[i], part)

            self._for_all(measure, np.arange(len(self.seeds)))
        return found

    @property
    def _core(self) -> Any:
        return core

    @cached_property
    def _sorted(self) -> dict[str, np.ndarray]:
        return {
            part: chosen[np.argsort(-self.lengths[chosen], kind="stable")].astype(np.int32)
            for part, chosen in self.parts.items()
        }

    def _error(self, parameters: np.ndarray, part: str) -> float:
        return self._core.evaluate(self.path, self.graph.description, *self._table, self._sorted[part], parameters)

    def _flat(self, tree: Any) -> np.ndarray:
        """A tree with a leading axis of seeds as one row per seed: a copy, so the given state stays as it was."""
        arrays = [np.asarray(tree[name], np.float32).reshape(len(self.seeds), -1) for name in self.graph.shapes]
        return np.concatenate(arrays, axis=1)

    def _for_all(self, work: Callable[[int], None], chosen: np.ndarray) -> None:
        if self.threads == 1 or len(chosen) < 2:
            for i in chosen:
                work(int(i))
            return
        with ThreadPoolExecutor(self.threads) as pool:
            list(pool.map(work, chosen.tolist()))

    def _judge(
        self, state: State, params: np.ndarray, moments: Moments, errors: np.ndarray, running: np.ndarray
    ) -> State:
        """Keep the best epoch; stop after too many epochs without improvement."""
        best, best_loss, best_epoch, waited, epochs, stopped = (
            np.array(leaf)
            for leaf in (
                self._flat(state.best), state.best_loss, state.best_epoch, state.waited, state.epoch, state.stopped
            )
        )  # fmt: skip
        for i in running:
            improved = errors[i] < best_loss[i] - np.float32(self.recipe.improvement)
            epochs[i] += 1
            waited[i] = 0 if improved else waited[i] + 1
            if improved:
                best[i], best_loss[i], best_epoch[i] = params[i], errors[i], epochs[i]
            stopped[i] = waited[i] >= self.recipe.patience
        named = self.graph.named
        return State(named(params), moments, named(best), best_loss, best_epoch, waited, epochs, stopped)
