"""Decisions in the operations of a program: a comparison is 0 or 1, a choice multiplies with it.

Everything is written against the namespace `ops` of `policies.trace`, so one definition runs in C, in NumPy, in the
exported header and in ONNX. A signal is a vector of some floats per row.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

Signal = Any
"""A vector per row: a `Symbol` while a program is recorded."""


def split(signal: Signal, *sizes: int) -> list[Signal]:
    """Consecutive parts of these sizes."""
    ends = np.cumsum(sizes)
    return [signal[..., end - size : end] for size, end in zip(sizes, ends.tolist(), strict=True)]


def spread(ops: Any, number: Signal, size: int) -> Signal:
    """One number in every place of a vector."""
    return number if size == 1 else ops.linear(number, np.ones((size, 1), np.float32))


def total(ops: Any, vector: Signal, size: int) -> Signal:
    """The sum of a vector, one number."""
    return ops.linear(vector, np.ones((1, size), np.float32))


def combine(ops: Any, parts: Sequence[Signal], weights: Any) -> Signal:
    """Numbers, joined and multiplied with a constant matrix (outputs, numbers)."""
    return ops.linear(ops.concat(*parts), np.asarray(weights, np.float32))


def above(ops: Any, a: Signal, b: Any) -> Signal:
    """1 where the number `a` is larger than `b`, else 0."""
    other = b if hasattr(b, "shape") else a * 0.0 + b  # a vector of rows, as ONNX wants to join it
    return ops.onehot(ops.concat(other, a), 2)[..., 1:2]


def choose(ops: Any, flag: Signal, yes: Any, no: Any, size: int = 1) -> Signal:
    """`yes` where the flag is 1, `no` where it is 0; both must be finite, since both are computed."""
    wide = spread(ops, flag, size)
    return wide * yes + (1.0 - wide) * no


def magnitude(ops: Any, x: Signal) -> Signal:
    """|x|, place by place."""
    return ops.maximum(x, -x)


def clamp(ops: Any, x: Signal, low: Any, high: Any) -> Signal:
    """`x` kept between two bounds."""
    return ops.minimum(ops.maximum(x, low), high)


def best(ops: Any, cost: Signal, size: int) -> Signal:
    """1 in the (first) place of the lowest cost, 0 elsewhere."""
    return ops.onehot(-cost, size)
