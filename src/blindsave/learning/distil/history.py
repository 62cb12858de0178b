"""What a training reported: one row per epoch, one column per seed."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindsave.errors import BadFile

FIELDS = ("train_loss", "validation_loss", "gradient_norm", "seconds")


@dataclass(frozen=True, eq=False)
class History:
    """Metrics (epochs, seeds); NaN after a seed has stopped. `seconds` is the wall time of the epoch of all seeds."""

    train_loss: NDArray[np.float32]
    validation_loss: NDArray[np.float32]
    gradient_norm: NDArray[np.float32]
    seconds: NDArray[np.float64]

    @classmethod
    def empty(cls, seeds: int) -> "History":
        """No epoch yet."""
        none = np.zeros((0, seeds), np.float32)
        return cls(none, none, none, np.zeros(0))

    def __len__(self) -> int:
        return len(self.seconds)

    def appended(self, row: Mapping[str, Any], seconds: float) -> "History":
        """With one more epoch, given as metrics by name."""
        rows = {name: np.asarray(row[name], np.float32)[None] for name in FIELDS[:3]}
        joined = {name: np.concatenate([getattr(self, name), values]) for name, values in rows.items()}
        return History(**joined, seconds=np.append(self.seconds, seconds))

    def lines(self, seeds: Sequence[int]) -> str:
        """The JSON lines of the metrics file: one per epoch and seed that was still training."""
        lines = []
        for epoch in range(len(self)):
            for s, seed in enumerate(seeds):
                row = {name: float(getattr(self, name)[epoch, s]) for name in FIELDS[:3]}
                if np.isfinite(row["train_loss"]):
                    seconds = round(float(self.seconds[epoch]), 3)
                    lines.append(json.dumps({"epoch": epoch + 1, "seed": seed, **row, "epoch_seconds": seconds}))
        return "".join(line + "\n" for line in lines)


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The rows of a metrics file."""
    try:
        return [json.loads(line) for line in path.read_text().splitlines()]
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise BadFile(f"{path} is not a metrics file: {error}") from error
