"""A training in progress as plain arrays, whoever computes them."""

from collections.abc import Iterator
from typing import Any, NamedTuple


class Moments(NamedTuple):
    """Running means of gradients and of their squares, and the number of updates."""

    first: Any
    second: Any
    count: Any


class State(NamedTuple):
    """Every leaf has a leading axis of seeds, except inside the compiled epoch."""

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


def _fill(like: Any, arrays: Iterator[Any]) -> Any:
    if isinstance(like, tuple):
        parts = [_fill(part, arrays) for part in like]
        return type(like)(*parts)
    if isinstance(like, dict):
        return {name: _fill(like[name], arrays) for name in sorted(like)}
    return next(arrays)
