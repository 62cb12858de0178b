"""Canonical float32 arithmetic: the one definition of what a policy computes, in readable NumPy.

Every function uses only correctly rounded float32 `+ - * / sqrt`, comparisons and moves of bits, in one written order,
so its result is the same bit pattern on every machine. The C kernel and the exported C header repeat these formulas and
must agree in every bit. Arrays have features on the last axis and any number of rows before it.

docs/arithmetic.md explains the choices. Changing a single rounding here is a new version of the arithmetic.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

ARITHMETIC = "blindsave_float32_v1"

Array = NDArray[np.float32]

LANES = 16
"""Partial sums of a `lane_sum`; fixed, whatever the width of the machine's vector unit."""

EXP_LOW, EXP_HIGH = np.float32(-87.0), np.float32(88.0)
LOG2_E = np.float32(1.44269504)
ROUND = np.float32(12582912.0)
"""1.5 * 2**23: adding it leaves the nearest integer in the low bits of the sum."""
LN2_HIGH, LN2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)
EXP_POLYNOMIAL = tuple(
    np.float32(float.fromhex(c))
    for c in ("0x1.6d4352p-10", "0x1.120b96p-7", "0x1.5554e8p-5", "0x1.5554dcp-3", "0x1.0p-1")
)
"""exp(r) = 1 + r + r*r*q(r) on |r| <= ln(2)/2: coefficients of q, highest power first."""
LOG_POLYNOMIAL = tuple(
    np.float32(float.fromhex(c)) for c in ("0x1.ddd994p-3", "0x1.245c0cp-2", "0x1.9999ecp-2", "0x1.555556p-1")
)
"""log(m) = 2s + s*w*q(w) with s = (m-1)/(m+1), w = s*s: coefficients of q, highest power first."""
SQRT_HALF_BITS = 0x3F3504F3
ONE, TWO = np.float32(1.0), np.float32(2.0)


def _horner(coefficients: Sequence[np.float32], x: Any) -> Any:
    total = coefficients[0] * x + coefficients[1]
    for coefficient in coefficients[2:]:
        total = total * x + coefficient
    return total


def _float32(x) -> Any:
    return np.asarray(x, dtype=np.float32)


def maximum(x, y) -> Array:
    """The larger of two values; where neither is larger, the first."""
    x, y = _float32(x), _float32(y)
    return np.where(x < y, y, x)


def minimum(x, y) -> Array:
    """The smaller of two values; where neither is smaller, the first."""
    x, y = _float32(x), _float32(y)
    return np.where(y < x, y, x)


def exp(x: Any) -> Any:
    """e**x for x clamped to [-87, 88], so that the result is always finite and normal."""
    x = _float32(minimum(maximum(x, EXP_LOW), EXP_HIGH))
    shifted = x * LOG2_E + ROUND
    n = shifted - ROUND
    r = (x - n * LN2_HIGH) - n * LN2_LOW
    mantissa = (_horner(EXP_POLYNOMIAL, r) * (r * r) + r) + ONE
    scale = (np.asarray(shifted).view(np.uint32) + np.uint32(127)) << np.uint32(23)
    return mantissa * scale.view(np.float32)


def log(x: Any) -> Any:
    """Natural logarithm of a positive, normal number."""
    bits = _float32(x).view(np.int32)
    exponent = (bits - np.int32(SQRT_HALF_BITS)) >> np.int32(23)
    m = (bits - (exponent << np.int32(23))).view(np.float32)
    s = (m - ONE) / (m + ONE)
    w = s * s
    n = exponent.astype(np.float32)
    return n * LN2_HIGH + ((s * TWO + (s * w) * _horner(LOG_POLYNOMIAL, w)) + n * LN2_LOW)


def sigmoid(x) -> Array:
    """1 / (1 + exp(-x))."""
    return ONE / (ONE + exp(-_float32(x)))


def silu(x) -> Array:
    """SiLU: x / (1 + exp(-x))."""
    x = _float32(x)
    return x / (ONE + exp(-x))


def tanh(x) -> Array:
    """(E - 1) / (E + 1) with E = exp(x + x)."""
    x = _float32(x)
    e = exp(x + x)
    return (e - ONE) / (e + ONE)


def sqrt(x: Any) -> Any:
    """Square root (correctly rounded by IEEE 754)."""
    return np.sqrt(_float32(x), dtype=np.float32)


def symlog(x) -> Array:
    """sign(x) * log(1 + |x|)."""
    x = _float32(x)
    return np.copysign(log(ONE + np.abs(x)), x, dtype=np.float32)


def bound(x) -> Array:
    """Bounded x / max(1, |x|): values inside [-1, 1] pass, larger ones become -1 or 1."""
    x = _float32(x)
    return x / maximum(ONE, np.abs(x))


def linear(x, weight, start=None) -> Array:
    """Affine map, start + W x: each output begins at `start` (zero if absent) and adds w*x input by input, in order.

    `weight` is (out, in), or (blocks, out, in): then block g maps the g-th slice of `x` to the g-th slice of the
    output. The sum is sequential over inputs, which leaves outputs as free parallel lanes.
    """
    weight = _float32(weight)
    if weight.ndim == 2:
        weight = weight[None]
    blocks, out, inner = weight.shape
    x = _float32(x).reshape(*np.shape(x)[:-1], blocks, inner)
    begin = np.float32(0.0) if start is None else _float32(start).reshape(*np.shape(start)[:-1], blocks, out)
    total = np.broadcast_to(begin, (*x.shape[:-1], out))
    if x.size * out < 65536:  # few rows: one accumulate call is faster than a Python loop, with the same additions
        products = weight.swapaxes(1, 2) * x[..., None]
        total = np.add.accumulate(np.concatenate((total[..., None, :], products), axis=-2), axis=-2)[..., -1, :]
    else:
        for i in range(inner):
            total = total + weight[:, :, i] * x[..., i, None]
    return np.ascontiguousarray(total.reshape(*x.shape[:-2], blocks * out), dtype=np.float32)


def lane_sum(x: Any) -> Any:
    """Sum over the last axis: 16 interleaved partial sums from zero, then halves added until one is left."""
    x = _float32(x)
    tail = -x.shape[-1] % LANES
    if tail:
        x = np.concatenate((x, np.zeros((*x.shape[:-1], tail), np.float32)), axis=-1)
    rows = x.reshape(*x.shape[:-1], -1, LANES)
    start = np.zeros((*x.shape[:-1], 1, LANES), np.float32)
    lanes = np.add.accumulate(np.concatenate((start, rows), axis=-2), axis=-2)[..., -1, :]
    width = LANES
    while width > 1:
        width //= 2
        lanes = lanes[..., :width] + lanes[..., width:]
    return lanes


def rmsnorm(x, scale, eps: float) -> Array:
    """(x * 1/sqrt(mean(x*x) + eps)) * scale."""
    x = _float32(x)
    mean = lane_sum(x * x) / np.float32(x.shape[-1])
    return (x * (ONE / sqrt(mean + np.float32(eps)))) * _float32(scale)


def onehot(x, classes: int) -> Array:
    """One in the place of the (first) largest value of every group of `classes` neighbours, zero elsewhere."""
    x = _float32(x)
    groups = x.reshape(*x.shape[:-1], -1, classes)
    return (np.arange(classes) == groups.argmax(-1)[..., None]).astype(np.float32).reshape(x.shape)


def concat(*parts) -> Array:
    """Join along the last axis; rows broadcast."""
    arrays = [_float32(part) for part in parts]
    rows = np.broadcast_shapes(*(a.shape[:-1] for a in arrays))
    return np.concatenate([np.broadcast_to(a, (*rows, a.shape[-1])) for a in arrays], axis=-1)
