"""Train all seeds of a family in one program: a whole epoch and its validation are one compiled call."""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from blindsave.errors import BadInput
from blindsave.learning.distil import adamw
from blindsave.learning.distil.config import TEST_DIGIT, TRAIN_DIGITS, VALIDATION_DIGIT, Recipe
from blindsave.learning.distil.dataset import Episodes
from blindsave.learning.distil.engine import Engine, engine_for
from blindsave.learning.distil.layout import Layout, batches, dealt, envelope, make_layout, permutation, training_layout
from blindsave.learning.distil.model import Table, batch_loss, make_table
from blindsave.policies.students.family import Family
from blindsave.policies.students.training import to_jax

FLOAT32 = jax.default_matmul_precision("highest")
"""GPUs would otherwise round the factors of float32 products."""


class State(NamedTuple):
    """A training in progress; in a `Trainer` every leaf has a leading axis of seeds."""

    params: dict[str, Any]
    moments: adamw.Moments
    best: dict[str, Any]
    """Parameters of the best epoch so far."""
    best_loss: Any
    best_epoch: Any
    waited: Any
    """Epochs since then."""
    epoch: Any
    stopped: Any


class Metrics(NamedTuple):
    """What an epoch reports, per seed."""

    train_loss: Any
    validation_loss: Any
    gradient_norm: Any
    """Mean over the epoch's updates, before clipping."""


class Trainer:
    """Everything a family's training needs, ready to run epoch by epoch."""

    def __init__(
        self,
        family: Family,
        data: Episodes,
        seeds: Sequence[int],
        recipe: Recipe,
        engine: Engine | None = None,
    ) -> None:
        self.family, self.seeds, self.recipe = family, tuple(seeds), recipe
        self.engine = engine or engine_for(family)
        digit = data.index % 10
        self.parts = {
            "train": np.flatnonzero(np.isin(digit, TRAIN_DIGITS)),
            "validation": np.flatnonzero(digit == VALIDATION_DIGIT),
            "test": np.flatnonzero(digit == TEST_DIGIT),
        }
        for name in ("train", "validation"):
            if not len(self.parts[name]):
                raise BadInput(f"there are no {name} episodes; collect episodes with indices of every last digit")
        self.lengths = data.steps.astype(np.int64)
        self.table = make_table(family, data)
        self.layout = training_layout(
            self.lengths[self.parts["train"]],
            self.seeds,
            recipe.epochs,
            min(recipe.batch, len(self.parts["train"])),
            recipe.chunk,
            self.engine.segment,
        )
        self.validation = self._evaluation("validation")
        self._epoch = jax.jit(self._epoch_of_all, donate_argnums=0)

    @property
    def valid_transitions(self) -> int:
        """Real training steps per epoch and seed."""
        return int(self.lengths[self.parts["train"]].sum())

    def initial(self) -> State:
        """All seeds before the first epoch."""

        def one(seed: int) -> State:
            params = to_jax(self.family.init(seed))
            zero = jnp.zeros((), jnp.int32)
            best = {name: jnp.array(value) for name, value in params.items()}
            infinity = jnp.full((), jnp.inf, jnp.float32)
            return State(params, adamw.fresh(params), best, infinity, zero, zero, zero, jnp.zeros((), bool))

        return jax.tree.map(lambda *leaves: jnp.stack(leaves), *map(one, self.seeds))

    def batches(self, epoch: int) -> np.ndarray:
        """The batches (seeds, n, batch) of an epoch, counted from one, as episode numbers."""
        chosen = self.parts["train"]
        size = min(self.recipe.batch, len(chosen))
        orders = [chosen[permutation(seed, epoch, len(chosen))] for seed in self.seeds]
        return np.stack([batches(order, self.lengths, size) for order in orders])

    def run_epoch(self, state: State, epoch: int) -> tuple[State, Metrics]:
        """One epoch of every seed that has not stopped; the given state is used up."""
        with FLOAT32:
            return self._epoch(state, jnp.asarray(self.batches(epoch)), self.table, self.validation[1])

    def evaluate(self, params: dict[str, Any], part: str) -> np.ndarray:
        """Equal-episode error of every seed's parameters on `train`, `validation` or `test`; NaN for an empty part."""
        if not len(self.parts[part]):
            return np.full(len(self.seeds), np.nan, np.float32)
        layout, groups = self._evaluation(part)
        with FLOAT32:
            return np.asarray(jax.jit(partial(self._evaluate_all, layout=layout))(params, self.table, groups))

    def _evaluation(self, part: str) -> tuple[Layout, Any]:
        chosen = self.parts[part]
        groups = chosen[dealt(self.lengths[chosen], self.engine.evaluation_batch)]
        empty = dealt(self.lengths[chosen], self.engine.evaluation_batch) < 0
        groups = np.where(empty, -1, groups).astype(np.int32)
        segment = min(self.engine.segment, self.recipe.chunk)
        return make_layout(envelope([groups], self.lengths), self.recipe.chunk, segment), jnp.asarray(groups)

    def _over_seeds(self, function: Any, *per_seed: Any) -> Any:
        if self.engine.seeds == "together":
            return jax.vmap(function)(*per_seed)
        return jax.lax.map(lambda args: function(*args), per_seed)

    def _epoch_of_all(self, state: State, order: Any, table: Table, groups: Any) -> tuple[State, Metrics]:
        def one(state: State, order: Any) -> tuple[State, Metrics]:
            nothing = Metrics(*(jnp.full((), jnp.nan, jnp.float32) for _ in Metrics._fields))
            if self.engine.seeds == "in_turn":
                train = partial(self._epoch_of_one, table=table, groups=groups)
                return jax.lax.cond(state.stopped, lambda s, _: (s, nothing), train, state, order)
            trained = self._epoch_of_one(state, order, table=table, groups=groups)
            return jax.tree.map(lambda old, new: jnp.where(state.stopped, old, new), (state, nothing), trained)

        return self._over_seeds(one, state, order)

    def _epoch_of_one(self, state: State, order: Any, *, table: Table, groups: Any) -> tuple[State, Metrics]:
        recipe = self.recipe

        def step(carry: tuple[Any, Any], episodes: Any) -> tuple[tuple[Any, Any], tuple[Any, Any, Any]]:
            params, moments = carry

            def loss(params: Any) -> tuple[Any, Any]:
                total, count = self._batch_loss(params, table, self.layout, episodes)
                return total / count, count

            (mean, count), gradients = jax.value_and_grad(loss, has_aux=True)(params)
            gradients, norm = adamw.clip(gradients, recipe.clip)
            carry = adamw.update(
                params,
                gradients,
                moments,
                learning_rate=recipe.learning_rate,
                weight_decay=recipe.weight_decay,
            )
            return carry, (mean * count, count, norm)

        (params, moments), (totals, counts, norms) = jax.lax.scan(step, (state.params, state.moments), order)
        error = self._error(params, table, self.validation[0], groups)
        metrics = Metrics(jnp.sum(totals) / jnp.sum(counts), error, jnp.mean(norms))
        return self._judge(state, params, moments, error), metrics

    def _judge(self, state: State, params: Any, moments: adamw.Moments, error: Any) -> State:
        """Keep the best epoch; stop after too many epochs without improvement."""
        improved = error < state.best_loss - self.recipe.improvement
        epoch = state.epoch + 1
        waited = jnp.where(improved, 0, state.waited + 1)
        return State(
            params,
            moments,
            jax.tree.map(lambda new, old: jnp.where(improved, new, old), params, state.best),
            jnp.where(improved, error, state.best_loss),
            jnp.where(improved, epoch, state.best_epoch),
            waited,
            epoch,
            waited >= self.recipe.patience,
        )

    def _evaluate_all(self, params: Any, table: Table, groups: Any, layout: Layout) -> Any:
        return self._over_seeds(lambda p: self._error(p, table, layout, groups), params)

    def _error(self, params: Any, table: Table, layout: Layout, groups: Any) -> Any:
        """Mean of the episodes' errors over all groups."""
        totals, counts = jax.lax.map(lambda episodes: self._batch_loss(params, table, layout, episodes), groups)
        return jnp.sum(totals) / jnp.sum(counts)

    def _batch_loss(self, params: Any, table: Table, layout: Layout, episodes: Any) -> tuple[Any, Any]:
        return batch_loss(self.family, params, table, layout, episodes, self.recipe.chunk, self.engine.unroll)
