"""Which trainer: C on a CPU, JAX on an accelerator and for what C does not know."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from blindsave.learning.distil.config import Recipe
from blindsave.learning.distil.dataset import Episodes
from blindsave.learning.distil.engine import Engine
from blindsave.learning.distil.native import NativeTrainer, trains_natively
from blindsave.learning.distil.state import Metrics, State
from blindsave.policies.students.family import Family

DEVICE_FILES = ("nvidia*", "kfd", "accel*")
"""What a GPU or TPU shows itself as on Linux."""


class AnyTrainer(Protocol):
    """Everything a family's training needs, ready to run epoch by epoch."""

    family: Family
    seeds: tuple[int, ...]

    @property
    def valid_transitions(self) -> int:
        """Real training steps per epoch and seed."""
        ...

    def initial(self) -> State:
        """All seeds before the first epoch."""
        ...

    def batches(self, epoch: int) -> np.ndarray:
        """The batches (seeds, n, batch) of an epoch."""
        ...

    def run_epoch(self, state: State, epoch: int) -> tuple[State, Metrics]:
        """One epoch of every seed that has not stopped."""
        ...

    def evaluate(self, params: dict[str, Any], part: str) -> np.ndarray:
        """Equal-episode error of every seed's parameters."""
        ...


def make_trainer(
    family: Family,
    data: Episodes,
    seeds: Sequence[int],
    recipe: Recipe,
    engine: Engine | None = None,
    threads: int | None = None,
) -> AnyTrainer:
    """The faster trainer here; an `engine` (how JAX shall run) asks for JAX."""
    if engine is None and trains_natively(family) and not accelerated():
        return NativeTrainer(family, data, seeds, recipe, threads=threads)
    from blindsave.learning.distil.trainer import Trainer

    return Trainer(family, data, seeds, recipe, engine)


def accelerated() -> bool:
    """Would JAX compute on something better than this CPU? JAX is not even imported where there is no such device."""
    if os.environ.get("JAX_PLATFORMS") == "cpu":
        return False
    if Path("/dev").is_dir() and not any(any(Path("/dev").glob(pattern)) for pattern in DEVICE_FILES):
        return False
    try:
        import jax
    except ModuleNotFoundError:
        return False
    return jax.default_backend() != "cpu"
