"""What one of several trainings side by side is trained on."""

from dataclasses import dataclass

from blindsave.learning.distil.dataset import Episodes


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Episodes, the seeds trained on them, and the digest of what the episodes came from."""

    data: Episodes
    seeds: tuple[int, ...]
    dataset: str = ""
