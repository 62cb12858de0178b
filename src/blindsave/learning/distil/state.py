"""A training in progress as plain arrays, whoever computes them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from blindsave.learning.distil.config import Recipe


class Moments(NamedTuple):
    """Running means of gradients and of their squares, and the number of updates."""

    first: Any
    second: Any
    count: Any


class State(NamedTuple):
    """Every leaf has a leading axis of seeds."""

    params: dict[str, Any]
    moments: Moments
    best: dict[str, Any]
    """Parameters of the best epoch so far."""
    best_loss: Any
    best_epoch: Any
    waited: Any
    """Epochs since then."""
    epoch: Any
    stopped: Any


class Metrics(NamedTuple):
    """What an epoch reports, per seed; NaN for a seed that had stopped."""

    train_loss: Any
    validation_loss: Any
    gradient_norm: Any
    """Mean over the epoch's updates, before clipping."""


def fresh_state(params: Sequence[Mapping[str, np.ndarray]]) -> State:
    """The seeds that start with these parameters, before the first epoch."""
    stacked = {name: np.stack([seed[name] for seed in params]) for name in params[0]}
    first, second = ({name: np.zeros_like(array) for name, array in stacked.items()} for _ in range(2))
    zero, infinity = np.zeros(len(params), np.int32), np.full(len(params), np.inf, np.float32)
    best = {name: array.copy() for name, array in stacked.items()}
    return State(stacked, Moments(first, second, zero), best, infinity, zero, zero, zero, np.zeros(len(params), bool))


def judged(recipe: Recipe, state: State, params: dict[str, Any], moments: Moments, errors: np.ndarray) -> State:
    """After an epoch with these validation errors: keep each seed's best; stop after too many without improvement."""
    running = ~np.asarray(state.stopped)
    improved = running & (errors < state.best_loss - np.float32(recipe.improvement))
    epoch, waited = state.epoch + running, np.where(improved, np.int32(0), state.waited + running)

    def better(new: Any, old: Any) -> np.ndarray:
        return np.where(improved.reshape(-1, *(1,) * (np.ndim(old) - 1)), new, old)

    return State(
        params,
        moments,
        {name: better(params[name], old) for name, old in state.best.items()},
        better(errors, state.best_loss),
        better(epoch, state.best_epoch),
        waited,
        epoch,
        state.stopped | (waited >= recipe.patience),
    )


def leaves(tree: Any) -> list[Any]:
    """All arrays of nested tuples and dicts in one order: fields as declared, names sorted."""
    if isinstance(tree, tuple):
        return [leaf for part in tree for leaf in leaves(part)]
    if isinstance(tree, dict):
        return [leaf for name in sorted(tree) for leaf in leaves(tree[name])]
    return [tree]


def rebuild(like: Any, arrays: list[Any]) -> Any:
    """The tree of this shape with other leaves."""
    return _fill(like, iter(arrays))


def some(state: State, seeds: slice) -> State:
    """The state of some of the seeds."""
    return rebuild(state, [np.asarray(leaf)[seeds] for leaf in leaves(state)])


def joined(states: Sequence[State]) -> State:
    """The seeds of several states, one after another."""
    together = zip(*(leaves(state) for state in states), strict=True)
    return rebuild(states[0], [np.concatenate([np.asarray(leaf) for leaf in same]) for same in together])


def _fill(like: Any, arrays: Iterator[Any]) -> Any:
    if isinstance(like, tuple):
        parts = [_fill(part, arrays) for part in like]
        return type(like)(*parts)
    if isinstance(like, dict):
        return {name: _fill(like[name], arrays) for name in sorted(like)}
    return next(arrays)
