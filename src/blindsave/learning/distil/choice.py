"""Which trainer: C on a CPU, JAX on an accelerator and for what C does not know."""

import os
from collections.abc import Sequence
from pathlib import Path

from blindsave.learning.distil.config import Recipe
from blindsave.learning.distil.dataset import Episodes
from blindsave.learning.distil.execution import Execution
from blindsave.learning.distil.native import NativeTrainer, trains_natively
from blindsave.learning.distil.trainer import Trainer
from blindsave.policies.students.family import Family

DEVICE_FILES = ("nvidia*", "kfd", "accel*")
"""What a GPU or TPU shows itself as on Linux."""


def make_trainer(
    family: Family,
    data: Episodes,
    seeds: Sequence[int],
    recipe: Recipe,
    execution: Execution | None = None,
    threads: int | None = None,
) -> Trainer:
    """The faster trainer here; an `execution` (how JAX shall run) asks for JAX."""
    if execution is None and trains_natively(family) and not accelerated():
        return NativeTrainer(family, data, seeds, recipe, threads=threads)
    from blindsave.learning.distil.jax_trainer import JaxTrainer

    return JaxTrainer(family, data, seeds, recipe, execution)


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
