"""One epoch of all seeds and its validation, as one compiled call: pure functions over explicit state."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from blindsave.learning.distil import adamw
from blindsave.learning.distil.config import Recipe
from blindsave.learning.distil.engine import Engine
from blindsave.learning.distil.layout import Layout
from blindsave.learning.distil.model import Table, batch_loss
from blindsave.learning.distil.state import Metrics, Moments, State
from blindsave.policies.students.family import Family


@dataclass(frozen=True)
class Setting:
    """Everything fixed that decides the compiled program."""

    family: Family
    recipe: Recipe
    engine: Engine
    layout: Layout
    """Of the training batches."""
    evaluation: Layout
    """Of the groups of validation episodes."""


def initial_state(params: dict[str, Any]) -> State:
    """One seed before the first epoch."""
    zero, best = jnp.zeros((), jnp.int32), {name: jnp.array(value) for name, value in params.items()}
    infinity = jnp.full((), jnp.inf, jnp.float32)
    return State(params, adamw.fresh(params), best, infinity, zero, zero, zero, jnp.zeros((), bool))


@partial(jax.jit, static_argnames="setting", donate_argnames="state")
def run_epoch(setting: Setting, state: State, order: Any, table: Table, validation: Any) -> tuple[State, Metrics]:
    """Train every seed that has not stopped on its batches `order` (seeds, n, batch), then validate."""

    def one(state: State, order: Any) -> tuple[State, Metrics]:
        nothing = Metrics(*(jnp.full((), jnp.nan, jnp.float32) for _ in Metrics._fields))
        if setting.engine.seeds == "in_turn":
            train = partial(_epoch, setting, table=table, validation=validation)
            return jax.lax.cond(state.stopped, lambda s, _: (s, nothing), train, state, order)
        trained = _epoch(setting, state, order, table=table, validation=validation)
        return jax.tree.map(lambda old, new: jnp.where(state.stopped, old, new), (state, nothing), trained)

    return _over_seeds(setting, one, state, order)


@partial(jax.jit, static_argnames="setting")
def evaluate(setting: Setting, params: dict[str, Any], table: Table, groups: Any) -> Any:
    """Equal-episode error of every seed's parameters over groups laid out as `setting.evaluation`."""
    return _over_seeds(setting, lambda p: _error(setting, p, table, groups), params)


def _over_seeds(setting: Setting, function: Any, *per_seed: Any) -> Any:
    if setting.engine.seeds == "together":
        return jax.vmap(function)(*per_seed)
    return jax.lax.map(lambda args: function(*args), per_seed)


def _epoch(setting: Setting, state: State, order: Any, *, table: Table, validation: Any) -> tuple[State, Metrics]:
    step = partial(_update, setting, table)
    (params, moments), (totals, counts, norms) = jax.lax.scan(step, (state.params, state.moments), order)
    error = _error(setting, params, table, validation)
    metrics = Metrics(jnp.sum(totals) / jnp.sum(counts), error, jnp.mean(norms))
    return _judge(setting.recipe, state, params, moments, error), metrics


def _update(setting: Setting, table: Table, carry: tuple[Any, Any], episodes: Any) -> tuple[Any, tuple[Any, Any, Any]]:
    """One batch: both chunks' gradients together, one clip, one step of AdamW."""
    (params, moments), recipe = carry, setting.recipe

    def loss(params: Any) -> tuple[Any, Any]:
        total, count = _loss(setting, params, table, setting.layout, episodes)
        return total / count, count

    (mean, count), gradients = jax.value_and_grad(loss, has_aux=True)(params)
    gradients, norm = adamw.clip(gradients, recipe.clip)
    carry = adamw.update(
        params, gradients, moments, learning_rate=recipe.learning_rate, weight_decay=recipe.weight_decay
    )
    return carry, (mean * count, count, norm)


def _judge(recipe: Recipe, state: State, params: Any, moments: Moments, error: Any) -> State:
    """Keep the best epoch; stop after too many epochs without improvement."""
    improved = error < state.best_loss - recipe.improvement
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
        waited >= recipe.patience,
    )


def _error(setting: Setting, params: Any, table: Table, groups: Any) -> Any:
    """Mean of the episodes' errors over all groups."""
    totals, counts = jax.lax.map(lambda group: _loss(setting, params, table, setting.evaluation, group), groups)
    return jnp.sum(totals) / jnp.sum(counts)


def _loss(setting: Setting, params: Any, table: Table, layout: Layout, episodes: Any) -> tuple[Any, Any]:
    return batch_loss(setting.family, params, table, layout, episodes, setting.recipe.chunk, setting.engine)
