"""Round a linear map to whole weights so that its results stay where they were over the recorded inputs."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from blindsave.deploy.integers import INPUT_LIMIT, SUM_LIMIT, WEIGHT_LIMIT, Integers, Rows, Whole
from blindsave.errors import BadInput

DAMPING = 1e-3
"""Of the mean square of inputs, added to every one, so that inputs that never vary decide nothing."""
PLAIN = (1.0,)
"""The scale at which a row's largest weight is the largest whole number."""
FINE = (1.0, *np.geomspace(0.7, 1.4, 64).tolist())
"""Times the plain scale: finer ones clip the largest weights, coarser ones may fit a row's weights better."""


def whole_rows(
    given: NDArray[np.float64],
    moments: NDArray[np.float64],
    point: int,
    integers: Integers,
    scales: Sequence[float] = PLAIN,
) -> Rows:
    """Weights that multiply whole inputs, row by row as fine as the bits of a weight and of the sum allow.

    The last column of `given` is the bias, with a one as its input in the `moments`. Of several `scales`, times that
    finest one, each row gets the one whose results err least over the recorded inputs.
    """
    limit, inputs = WEIGHT_LIMIT[integers], given.shape[1] - 1
    sizes = np.abs(given)
    largest = np.maximum(sizes[:, :-1].max(axis=1), 1e-30)
    # |bias| + sum |w| * 32767 <= 2**31, with room for what rounding moves from one weight to others.
    room = (SUM_LIMIT - INPUT_LIMIT * inputs) / 1.25
    fits = (sizes[:, :-1].sum(axis=1) * INPUT_LIMIT + sizes[:, -1]) / room
    finest = np.maximum(largest / limit, fits)
    weight, bias, scale = best_rows(given, moments, limit, [np.maximum(finest * times, fits) for times in scales])
    if (np.abs(weight).sum(axis=1) * INPUT_LIMIT + np.abs(bias) > SUM_LIMIT).any():
        raise BadInput("a linear map's sums do not fit into 32 bits")
    ratio = scale * 2.0**point
    shift = 15 - int(np.floor(np.log2(ratio.max())))
    if not 1 <= shift <= 46:
        raise BadInput("a linear map's results are too large or too small for whole numbers")
    return Rows(weight, bias, np.minimum(np.floor(ratio * 2.0**shift + 0.5), 65535).astype(np.int64), shift)


def best_rows(
    given: NDArray[np.float64], moments: NDArray[np.float64], limit: int, scales: Sequence[NDArray[np.float64]]
) -> tuple[Whole, Whole, NDArray[np.float64]]:
    """Whole weights, biases and scales, for each row those that err least in the mean square."""
    tried = [(*rounded(given / scale[:, None], moments, limit), scale) for scale in scales]
    if len(tried) == 1:
        return tried[0]
    off = [np.column_stack([weight, bias]) * scale[:, None] - given for weight, bias, scale in tried]
    best = np.argmin([((one @ moments) * one).sum(axis=1) for one in off], axis=0)
    row = np.arange(len(given))
    weights, biases, found = (np.array(part)[best, row] for part in zip(*tried, strict=True))
    return weights, biases, found


def rounded(weight: NDArray[np.float64], moments: NDArray[np.float64], limit: int) -> tuple[Whole, Whole]:
    """Whole weights and biases whose results stay closest to those of `weight` over the recorded inputs.

    Column by column, the largest inputs first, a weight is rounded and those that follow, the bias last, make up for
    it as far as their inputs go along with its own (the rule of GPTQ, which is that of least squares).
    """
    spread = np.diag(moments).copy()
    order = np.append(np.argsort(-spread[:-1], kind="stable"), len(spread) - 1)
    damped = moments + np.diag(np.full(len(spread), DAMPING * spread.mean()))
    upper = np.linalg.cholesky(np.linalg.inv(damped[np.ix_(order, order)])).T
    left, whole = weight[:, order].copy(), np.zeros(weight.shape, np.int64)
    for j, column in enumerate(order):
        most = limit if column < len(order) - 1 else SUM_LIMIT
        whole[:, column] = np.clip(np.floor(left[:, j] + 0.5), -most, most)
        missed = (left[:, j] - whole[:, column]) / upper[j, j]
        left[:, j + 1 :] -= np.outer(missed, upper[j, j + 1 :])
    return whole[:, :-1], whole[:, -1]
