"""Train a core in both tasks within the benchmark's budget and let it play: the figures of one line of every curve."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from blindsave import store
from blindsave.benchmark.budget import Budget
from blindsave.errors import BadFile
from blindsave.evidence.mrmc import departures, rate_ends, spread
from blindsave.learning.distil.collection import episodes_of
from blindsave.learning.distil.dataset import Episodes, concatenate
from blindsave.learning.distil.fit import fit
from blindsave.learning.distil.schedule import base_schedule, shadow_schedules
from blindsave.learning.remember import lessons
from blindsave.policies.catalog import load, load_file, model_file, models_folder
from blindsave.policies.closed_loop import run
from blindsave.policies.students.accounting import cost
from blindsave.policies.students.family import Family
from blindsave.policies.students.student import Student
from blindsave.task.conditions import CLEAN, Condition, condition
from blindsave.task.outcomes import Outcome
from blindsave.task.remember import milliseconds, remembering
from blindsave.task.shots import Shot, shots

TEACHER_SHA256 = "e0bec0ed3960773909a95ce41ba5c31c981aa69b858733305587dac4bed30edc"
"""The learned teacher of the paper's task; the references were taught by it, and so is every core."""
Tell = Callable[[str], None]


def teacher_file() -> Path:
    """Where that teacher lies among the shipped models, by what it is and not by its name."""
    others = sorted(models_folder().glob("teachers/*/teacher/teacher.safetensors"))
    for path in (model_file("teacher"), *others):
        if path.is_file() and store.sha256_file(path) == TEACHER_SHA256:
            return path
    raise BadFile(
        f"the teacher of the benchmark ({TEACHER_SHA256[:12]}...) is not among the models in {models_folder()}"
    )


class Data:
    """The teachers' episodes, played once for all cores."""

    def __init__(self, budget: Budget, threads: int | None = None) -> None:
        self.budget, self.threads = budget, threads
        self.teacher: Any = load_file(teacher_file())
        self.paper = episodes_of(self.teacher, base_schedule(budget.base_episodes), threads=threads)
        self.memory = lessons.base(budget.lessons, threads)


class Trial(NamedTuple):
    """What one core came to."""

    figures: dict[str, Any]
    paper: list[Student]
    memory: list[Student]


def trial(family: Family, data: Data, tell: Tell = lambda _said: None) -> Trial:
    """Train and play one core in both tasks; `figures` is everything the page shows of it."""
    budget, threads = data.budget, data.threads
    paper = paper_students(family, data, tell)
    figures = {"core": family.name, "cost": vars(cost(family)), **paper_curves(paper, budget, threads)}
    tell(f"{family.name}: the paper's task is played")
    memory = lessons.taught(family, budget.lessons, data.memory, threads=threads, tell=tell)
    figures |= horizon_curve(memory, budget, threads)
    tell(f"{family.name}: the memory task is played")
    return Trial(figures, paper, memory)


def classical(name: str, budget: Budget, threads: int | None = None) -> dict[str, Any]:
    """The same figures of a policy that was never trained."""
    policy = [load(name)]
    told = {"core": name, "cost": None}
    return told | paper_curves(policy, budget, threads) | horizon_curve(policy, budget, threads)


def paper_curves(policies: Sequence[Any], budget: Budget, threads: int | None) -> dict[str, Any]:
    """Save rates by how long the puck is hidden, and by what else the tracker does wrong."""
    hidden = curve(policies, [(CLEAN, steps) for steps in budget.blackouts], budget, threads)
    faults = curve(policies, [(condition(name), budget.fault_blackout) for name in budget.faults], budget, threads)
    return {
        "paper": {"hidden_ms": [20 * steps for steps in budget.blackouts], **hidden},
        "faults": {"faults": list(budget.faults), **faults},
    }


def horizon_curve(policies: Sequence[Any], budget: Budget, threads: int | None) -> dict[str, Any]:
    """Shots kept out and saved by how long the arm is held."""
    held = curve(policies, [(remembering(hold), 0) for hold in budget.holds], budget, threads)
    return {"horizon": {"hold_ms": [milliseconds(hold) for hold in budget.holds], **held}}


def paper_students(family: Family, data: Data, tell: Tell) -> list[Student]:
    """The paper's two stages: students of the teacher's episodes, then of those and their own, labelled."""
    budget, parts = data.budget, [data.paper]
    options = {"seeds": budget.seeds, "recipe": budget.recipe, "threads": data.threads}
    collectors = fit(family, data.paper, **options, stage="collector").students
    schedules = shadow_schedules(budget.own_episodes, budget.seeds, budget.base_episodes)
    for student in collectors:
        schedule = schedules[student.provenance.seed]
        parts.append(episodes_of(student, schedule, data.teacher, threads=data.threads))
    whole: Episodes = concatenate(parts)
    students = fit(family, whole, **options).students
    tell(f"{family.name}: the paper's task is learned from {len(whole)} episodes")
    return students


def curve(
    policies: Sequence[Any], grid: Sequence[tuple[Condition, int]], budget: Budget, threads: int | None
) -> dict[str, Any]:
    """Shots saved and goals conceded at every point of a curve: all shots, and alias shots alone, with intervals."""
    members = asked(budget)
    alias = np.array([shot.alias_family is not None for shot in members])
    points: dict[str, list[Any]] = {"saved": [], "alias_saved": [], "alias_kept_out": []}
    for under, steps in grid:
        episodes = [under.episode(shot, steps) for shot in members]
        played = [run(policy, episodes, threads=threads) for policy in policies]
        saved = np.stack([one.saved for one in played])
        kept = np.stack([one.outcome != Outcome.GOAL_CONCEDED for one in played])
        points["saved"].append(rate(saved, members))
        twins = [shot for shot in members if shot.alias_family]
        points["alias_saved"].append(rate(saved[:, alias], twins))
        points["alias_kept_out"].append(rate(kept[:, alias], twins))
    return points


def asked(budget: Budget) -> list[Shot]:
    """The shots that are played: whole units, alias pairs together."""
    members = shots(budget.split)
    units = sorted({shot.unit for shot in members})[:: budget.every]
    return [shot for shot in members if shot.unit in set(units)]


def rate(good: np.ndarray, members: Sequence[Shot]) -> dict[str, Any]:
    """A rate of (students, shots) with its interval: students and units are drawn by chance (docs/statistics.md)."""
    units = sorted({shot.unit for shot in members})
    place = np.array([units.index(shot.unit) for shot in members])
    by_unit = np.stack([np.bincount(place, row, len(units)) for row in good.astype(float)])
    point, apart = departures(by_unit, np.bincount(place, minlength=len(units)))
    low, high = rate_ends(np.asarray(point), spread(apart * len(units)), len(units))
    return {"rate": round(point, 6), "low": round(float(low), 6), "high": round(float(high), 6),
            "by_seed": good.sum(axis=1).tolist(), "shots": good.shape[1]}  # fmt: skip
