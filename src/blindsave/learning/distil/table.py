"""Episodes in the form a family trains on: one row per step, and who belongs to which part."""

import numpy as np

from blindsave.errors import BadInput
from blindsave.learning.distil.config import TEST_DIGIT, TRAIN_DIGITS, VALIDATION_DIGIT
from blindsave.learning.distil.dataset import Episodes
from blindsave.policies import arithmetic
from blindsave.policies.students.core import MemoryCore
from blindsave.policies.students.family import Family


def table_rows(family: Family, data: Episodes) -> np.ndarray:
    """A row per step: encoder input, label and, for recurrent cores, the previous action."""
    parts = [encoder_inputs(family, data), data.label]
    if family.core.recurrent:
        parts.append(data.previous)
    return np.concatenate(parts, axis=1, dtype=np.float32)


def encoder_inputs(family: Family, data: Episodes) -> np.ndarray:
    """What the encoder reads at every step; plain records of observations (a stack) are made once, here."""
    core = family.core
    if type(core).observe is MemoryCore.observe:
        return np.asarray(data.obs)
    if core.recurrent:
        raise BadInput(f"{family.name}: a core with a learned state cannot also change its memory in `observe`")
    inputs = np.empty((len(data.obs), core.observed), np.float32)
    memory = np.zeros((len(data), core.memory), np.float32)
    for t in range(int(data.steps.max())):
        live = np.flatnonzero(data.steps > t)
        rows = data.offsets[live] + t
        memory[live], inputs[rows] = core.observe(arithmetic, memory[live], data.obs[rows])
    return inputs


def split(data: Episodes) -> dict[str, np.ndarray]:
    """Numbers of the train, validation and test episodes: by the last digit of the episode's index."""
    digit = data.index % 10
    parts = {
        "train": np.flatnonzero(np.isin(digit, TRAIN_DIGITS)),
        "validation": np.flatnonzero(digit == VALIDATION_DIGIT),
        "test": np.flatnonzero(digit == TEST_DIGIT),
    }
    for name in ("train", "validation"):
        if not len(parts[name]):
            raise BadInput(f"there are no {name} episodes; collect episodes with indices of every last digit")
    return parts
