"""One teacher of a run: its configuration, its folder, its recent episodes and its lines of metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindsave.learning.dreamer import checkpoint
from blindsave.learning.dreamer.config import Config
from blindsave.learning.dreamer.metrics import Episodes, MetricsFile


class Member:
    """A teacher alone owns the run's folder; a teacher of a population has a folder in it, named by its seed.

    Its folder looks like the folder of a run (configuration, metrics, parameters), so that whatever reads a run, such
    as validation, reads it too, at any time.
    """

    def __init__(self, run: Config, index: int, root: Path) -> None:
        self.config, self.index, self._alone = run.member(index), index, run.training.population == 1
        self.folder = checkpoint.Folder(root if self._alone else root / str(self.config.training.seed))
        self.episodes = Episodes(run.training.envs)
        self.metrics: MetricsFile

    def of(self, array: Any) -> Any:
        """Return this teacher's part of an array that has an axis of teachers where there are several."""
        return array if self._alone else array[self.index]

    def save_params(self, step: int, params: Mapping[str, NDArray]) -> None:
        """Keep this teacher's parameters."""
        self.folder.save_params(step, {name: self.of(value) for name, value in params.items()}, self.config)

    def line(self, totals: Mapping[str, NDArray], updates: int) -> dict[str, Any]:
        """Return the averaged figures of the latest updates, and a summary of the recent episodes."""
        return {name: float(self.of(v)) / updates for name, v in totals.items()} | self.episodes.summary()


def average(lines: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the mean of several teachers' figures; speeds are summed. One teacher's line stays as it is."""
    if len(lines) == 1:
        return dict(lines[0])
    shared = [k for k, v in lines[0].items() if np.isscalar(v) and all(k in line for line in lines)]
    numbers = {k: np.array([line[k] for line in lines]) for k in shared}
    whole = ("step", "updates", "episodes")
    out: dict[str, Any] = {k: float(v.sum() if k.endswith("_per_s") else v.mean()) for k, v in numbers.items()}
    return out | {k: int(numbers[k].mean()) for k in whole if k in numbers}
