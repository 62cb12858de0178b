"""What one of several trainings side by side is trained on."""

from dataclasses import dataclass
from pathlib import Path

from blindsave.learning.distil.dataset import Episodes


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Episodes, the seeds trained on them, the digest of what the episodes came from, and where checkpoints go."""

    data: Episodes
    seeds: tuple[int, ...]
    dataset: str = ""
    checkpoint: Path | None = None
