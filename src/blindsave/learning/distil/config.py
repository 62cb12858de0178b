"""The training recipe: the same for all families and both stages."""

from dataclasses import dataclass

from blindsave.errors import BadInput

TRAIN_DIGITS = tuple(range(8))
VALIDATION_DIGIT = 8
TEST_DIGIT = 9
"""The last digit of an episode's index decides where it belongs."""


@dataclass(frozen=True)
class Recipe:
    """Everything that decides a training besides data, family and seed; the defaults are the study's."""

    epochs: int = 100
    batch: int = 128
    """Complete episodes per update."""
    chunk: int = 64
    """Gradients do not cross multiples of this many steps; the memory does."""
    learning_rate: float = 3e-4
    weight_decay: float = 1e-5
    clip: float = 1.0
    patience: int = 10
    """Epochs without improvement after which a seed stops."""
    improvement: float = 1e-6
    """Smallest decrease of the validation error that counts."""

    def __post_init__(self) -> None:
        for name in ("epochs", "batch", "chunk", "patience"):
            if getattr(self, name) < 1:
                raise BadInput(f"{name} must be at least 1, got {getattr(self, name)}")
        for name in ("learning_rate", "clip"):
            if not getattr(self, name) > 0:
                raise BadInput(f"{name} must be positive, got {getattr(self, name)}")


PAPER = Recipe()
