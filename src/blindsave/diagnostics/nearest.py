"""How far a policy's histories are from the ones a student was trained on.

A step's history is its last five observations and previous actions, right-aligned and zero-padded, with five flags of
which of them exist: 110 numbers, standardised by the training set's means and deviations.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blindsave.errors import BadInput
from blindsave.learning.distil.config import TRAIN_DIGITS, VALIDATION_DIGIT
from blindsave.learning.distil.dataset import Episodes

HISTORY_STEPS = 5
NEIGHBOURS = 16
SMALLEST_DEVIATION = 1e-6
QUERY_ROWS = 512

Array = NDArray[np.float64]


def histories(data: Episodes) -> Array:
    """The history of every step, (n, 110)."""
    now = np.concatenate([data.obs, data.previous], axis=1).astype(np.float64)
    time = np.arange(len(now)) - np.repeat(data.offsets[:-1], data.steps)
    columns, flags = [], []
    for back in reversed(range(HISTORY_STEPS)):
        exists = time >= back
        rows = np.maximum(np.arange(len(now)) - back, 0)
        columns.append(np.where(exists[:, None], now[rows], 0.0))
        flags.append(exists.astype(np.float64))
    return np.concatenate([*columns, np.stack(flags, axis=1)], axis=1)


@dataclass(frozen=True, eq=False)
class Reference:
    """Standardised training histories and their labels."""

    points: Array
    labels: Array
    mean: Array
    deviation: Array
    kept: NDArray[np.bool_]

    @classmethod
    def of(cls, data: Episodes) -> "Reference":
        """The reference made of some episodes."""
        if not len(data):
            raise BadInput("there are no training episodes to compare with")
        features = histories(data)
        mean, deviation = features.mean(0), features.std(0)
        kept = deviation >= SMALLEST_DEVIATION
        points = (features[:, kept] - mean[kept]) / deviation[kept]
        return cls(points, data.label.astype(np.float64), mean, deviation, kept)

    def nearest(self, data: Episodes) -> tuple[Array, Array]:
        """For every step: the distance of the nearest training history, and the label variance of the nearest 16."""
        kept = self.kept
        queries = (histories(data)[:, kept] - self.mean[kept]) / self.deviation[kept]
        count = min(NEIGHBOURS, len(self.points))
        squares = (self.points**2).sum(1)
        distances, variances = np.empty(len(queries)), np.empty(len(queries))
        for start in range(0, len(queries), QUERY_ROWS):
            rows = slice(start, start + QUERY_ROWS)
            block = queries[rows]
            apart = squares - 2.0 * block @ self.points.T  # the query's own square is the same for all points
            near = np.argpartition(apart, count - 1, axis=1)[:, :count]
            exact = ((self.points[near] - block[:, None]) ** 2).sum(2)  # without the cancellation of the expansion
            distances[rows] = np.sqrt(exact.min(1))
            variances[rows] = self.labels[near].var(axis=1).mean(axis=1)
        return distances, variances


def describe(distances: Array, variances: Array) -> dict[str, float] | None:
    """Mean and 95th percentile of the distances, mean local label variance; None without any step."""
    if not len(distances):
        return None
    return {
        "mean": float(distances.mean()),
        "p95": float(np.quantile(distances, 0.95)),
        "label_variance": float(variances.mean()),
    }


def teacher_histories(base: Episodes) -> tuple[Reference, dict[str, float] | None]:
    """The histories of a teacher's training episodes without blackout, and how far its validation episodes are."""
    clear, digit = base.blackout == 0, base.index % 10
    reference = Reference.of(base.select(clear & np.isin(digit, TRAIN_DIGITS)))
    return reference, describe(*reference.nearest(base.select(clear & (digit == VALIDATION_DIGIT))))


def nearest_history(base: Episodes, student: Episodes) -> dict[str, object]:
    """Compare a student's episodes with teacher validation episodes; only episodes without blackout count.

    `student` holds episodes played by the student (its labels are not used).
    """
    reference, teacher = teacher_histories(base)
    own = describe(*reference.nearest(student.select(student.blackout == 0)))
    ratio = own["p95"] / teacher["p95"] if own and teacher and teacher["p95"] > 0 else None
    return {"teacher": teacher, "student": own, "p95_ratio": ratio}
