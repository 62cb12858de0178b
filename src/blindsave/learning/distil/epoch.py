"""One epoch of all seeds and its validation, as one compiled call: pure functions over explicit state."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from blindsave.learning.distil import adamw
from blindsave.learning.distil.config import Recipe
from blindsave.learning.distil.execution import Execution
from blindsave.learning.distil.layout import BatchLayout
from blindsave.learning.distil.model import Params, Table, batch_loss
from blindsave.learning.distil.state import Metrics, Moments
from blindsave.policies.students.family import Family


@dataclass(frozen=True)
class Setting:
    """Everything fixed that decides the compiled program."""

    family: Family
    recipe: Recipe
    execution: Execution
    layout: BatchLayout
    """Of the training batches."""
    evaluation: BatchLayout
    """Of the groups of validation episodes."""


@partial(jax.jit, static_argnames="setting")
def run_epoch(
    setting: Setting, params: Params, moments: Moments, stopped: Any, order: Any, table: Table, validation: Any
) -> tuple[Params, Moments, Metrics]:
    """Train every seed that has not stopped on its batches `order` (seeds, n, batch), then validate.

    The groups to validate on are those of all seeds (groups, episodes), or each has its own (seeds, groups, episodes).
    """

    def one(params: Params, moments: Moments, stopped: Any, order: Any, validation: Any) -> Any:
        train = partial(_epoch, setting, table=table, validation=validation)
        nothing = params, moments, Metrics(*(jnp.full((), jnp.nan, jnp.float32) for _ in Metrics._fields))
        if setting.execution.seeds == "in_turn":
            return jax.lax.cond(stopped, lambda *_: nothing, train, params, moments, order)
        return jax.tree.map(lambda old, new: jnp.where(stopped, old, new), nothing, train(params, moments, order))

    return _with_groups(setting, one, validation, params, moments, stopped, order)


@partial(jax.jit, static_argnames="setting")
def evaluate(setting: Setting, params: Params, table: Table, groups: Any) -> Any:
    """Equal-episode error of every seed's parameters over groups laid out as `setting.evaluation`."""
    return _with_groups(setting, lambda p, own: _error(setting, p, table, own), groups, params)


def _with_groups(setting: Setting, function: Any, groups: Any, *per_seed: Any) -> Any:
    """Call the function for every seed with the groups of all, or with its own."""
    if groups.ndim == 3:
        return _over_seeds(setting, function, *per_seed, groups)
    return _over_seeds(setting, lambda *own: function(*own, groups), *per_seed)


def _over_seeds(setting: Setting, function: Any, *per_seed: Any) -> Any:
    if setting.execution.seeds == "together":
        return jax.vmap(function)(*per_seed)
    return jax.lax.map(lambda args: function(*args), per_seed)


def _epoch(
    setting: Setting, params: Params, moments: Moments, order: Any, *, table: Table, validation: Any
) -> tuple[Params, Moments, Metrics]:
    step = partial(_update, setting, table)
    (params, moments), (totals, counts, norms) = jax.lax.scan(step, (params, moments), order)
    error = _error(setting, params, table, validation)
    return params, moments, Metrics(jnp.sum(totals) / jnp.sum(counts), error, jnp.mean(norms))


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


def _error(setting: Setting, params: Any, table: Table, groups: Any) -> Any:
    """Mean of the episodes' errors over all groups."""
    totals, counts = jax.lax.map(lambda group: _loss(setting, params, table, setting.evaluation, group), groups)
    return jnp.sum(totals) / jnp.sum(counts)


def _loss(setting: Setting, params: Any, table: Table, layout: BatchLayout, episodes: Any) -> tuple[Any, Any]:
    return batch_loss(setting.family, params, table, layout, episodes, setting.recipe.chunk, setting.execution)
