"""Distillation: teacher episodes, collectors, shadow-teacher correction, students.

Collecting, labelling and, on CPUs, training need the core install only; JAX trains on GPUs and what C does not know.
"""

from blindsave.learning.distil.collection import collect, episodes_of, record
from blindsave.learning.distil.config import PAPER, Recipe
from blindsave.learning.distil.dataset import Dataset, Episodes, concatenate
from blindsave.learning.distil.schedule import TRAINING_SEEDS, CollectionSchedule, base_schedule, shadow_schedules
from blindsave.learning.distil.shadow import Teacher, shadow_labels

__all__ = [
    "PAPER",
    "TRAINING_SEEDS",
    "CollectionSchedule",
    "Dataset",
    "Episodes",
    "Recipe",
    "Teacher",
    "base_schedule",
    "collect",
    "concatenate",
    "episodes_of",
    "record",
    "shadow_labels",
    "shadow_schedules",
]
