"""Distillation: teacher episodes, collectors, shadow-teacher correction, students.

Collecting and labelling (`collect`, `shadow_labels`, `Dataset`) need the core install only; training (`fit`,
`pipeline`) needs JAX and is imported from its modules.
"""

from blindsave.learning.distil.collection import collect, episodes_of, record
from blindsave.learning.distil.config import PAPER, Recipe
from blindsave.learning.distil.dataset import Dataset, Episodes, concatenate
from blindsave.learning.distil.schedule import TRAINING_SEEDS, Schedule, base_schedule, shadow_schedules
from blindsave.learning.distil.shadow import Teacher, shadow_labels

__all__ = [
    "PAPER",
    "TRAINING_SEEDS",
    "Dataset",
    "Episodes",
    "Recipe",
    "Schedule",
    "Teacher",
    "base_schedule",
    "collect",
    "concatenate",
    "episodes_of",
    "record",
    "shadow_labels",
    "shadow_schedules",
]
