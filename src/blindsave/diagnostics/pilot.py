"""The k = 2 pilot: one student without and one with shadow-teacher correction, and why the first one fails."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from blindsave.diagnostics.action_errors import forced_error
from blindsave.diagnostics.nearest import nearest_history
from blindsave.diagnostics.played import clear_episodes, saves_by_length
from blindsave.learning.distil.dataset import concatenate
from blindsave.learning.distil.pipeline import Pipeline, open_student
from blindsave.learning.distil.schedule import PILOT_SHADOW_SEED
from blindsave.policies import closed_loop
from blindsave.policies.students.student import Student
from blindsave.task.conditions import grid
from blindsave.task.shots import Shot, shots

FAMILY, SEED = "structured_k2", 14303
LENGTHS = (0, 5, 10, 15, 20)


def run_pilot(
    pipeline: Pipeline,
    family: str = FAMILY,
    seed: int = SEED,
    lengths: tuple[int, ...] = LENGTHS,
    chosen: Sequence[Shot] | None = None,
) -> dict[str, Any]:
    """Train both students within the pipeline's budget and with the pilot's seeds, and compare them on validation."""
    chosen = shots("validation") if chosen is None else chosen
    own = replace(pipeline, budget=replace(pipeline.budget, seeds=(seed,), shadow_seed=PILOT_SHADOW_SEED))
    plain, _ = open_student(own.collectors(family), seed)
    corrected, _ = open_student(own.finals(family), seed)
    base = own.base().episodes
    test = concatenate([base, *(dataset.episodes for dataset in own.shadow(family))])
    test = test.select(test.index % 10 == 9)
    result: dict[str, Any] = {"family": family, "seed": seed}
    for name, student in (("without_correction", plain), ("with_correction", corrected)):
        result[name] = {
            "validation_mse": student.provenance.validation_mse,
            "saves": saves(student, chosen, lengths, pipeline.threads),
            "action_error": forced_error(student, test, pipeline.threads),
            "nearest_history": nearest_history(base, clear_episodes(student, chosen, pipeline.threads)),
        }
    return result


def saves(
    student: Student, chosen: Sequence[Shot], lengths: tuple[int, ...], threads: int | None = None
) -> dict[str, dict[str, int]]:
    """Saves by blackout length."""
    return saves_by_length(closed_loop.run(student, grid(chosen, lengths), threads=threads), lengths)
