"""How a family learns the memory task: episodes of the teacher, then rounds of its own, all labelled by the teacher.

    base     the teacher plays; in half of the episodes its requests are mirrored until the arm is released
    round    the students so far play, likewise; the teacher says what it would have asked for
    finals   new students from scratch, trained on everything

Everything is a function of (family, budget): every episode is drawn by a generator of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from blindsave.errors import BadInput
from blindsave.learning.distil.config import Recipe
from blindsave.learning.distil.dataset import Episodes, concatenate
from blindsave.learning.distil.fit import fit
from blindsave.learning.distil.shadow import shadow_labels
from blindsave.learning.remember.mirrored import play
from blindsave.learning.remember.teacher import TEACHER
from blindsave.policies.students.family import Family
from blindsave.policies.students.student import Student
from blindsave.task.episode import Episode
from blindsave.task.outcomes import TIMEOUT_STEPS
from blindsave.task.remember import HOLDS, remembering
from blindsave.task.shots import shots

FIRST_SEED = 180303
"""Episode i of the data is drawn by a generator of its own, seeded with this number and i."""
SPLIT = "train"
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Lessons:
    """How much of everything."""

    base_episodes: int
    round_episodes: int
    """Episodes of the students' own per round, shared equally by the seeds."""
    rounds: int
    seeds: tuple[int, ...]
    recipe: Recipe
    mirrored: bool = True
    """Whether requests are mirrored until the release in half of the episodes; if not, students can copy."""

    def __post_init__(self) -> None:
        if self.base_episodes < 20 or self.rounds < 0 or not self.seeds:
            raise BadInput("lessons need at least 20 base episodes, no negative number of rounds, and a seed")
        if self.round_episodes % len(self.seeds):
            raise BadInput(f"{self.round_episodes} episodes cannot be shared equally by {len(self.seeds)} students")


FULL = Lessons(
    1000, 1000, 1, (14303, 14304, 14305, 14306, 14307), Recipe(epochs=120, batch=16, learning_rate=5e-3, patience=120)
)
"""What the published curves were trained with."""


def base(budget: Lessons, threads: int | None = None) -> Episodes:
    """The teacher's own episodes, the same for all families."""
    return labelled(TEACHER, np.arange(budget.base_episodes), budget.mirrored, threads)


def taught(
    family: Family,
    budget: Lessons,
    given: Episodes | None = None,
    *,
    threads: int | None = None,
    tell: Tell | None = None,
) -> list[Student]:
    """Train a family; `given` are the base episodes, where they have been played before."""
    say = tell or (lambda _said: None)
    data = base(budget, threads) if given is None else given
    for number in range(budget.rounds + 1):
        last = number == budget.rounds
        stage = "final" if last else "collector"
        fitted = fit(family, data, seeds=budget.seeds, recipe=budget.recipe, stage=stage, threads=threads)
        students = fitted.students
        errors = ", ".join(f"{one.provenance.validation_mse:.4f}" for one in students)
        say(f"{family.name}: {stage}s trained on {len(data)} episodes, validation error {errors}")
        if last:
            return students
        begin = budget.base_episodes + number * budget.round_episodes
        parts = np.split(begin + np.arange(budget.round_episodes), len(students))
        own = [labelled(one, part, budget.mirrored, threads) for one, part in zip(students, parts, strict=True)]
        data = concatenate([data, *own])
    raise AssertionError


def labelled(policy: Any, indices: np.ndarray, mirrored: bool = True, threads: int | None = None) -> Episodes:
    """Episodes of the data, played by a policy and labelled by the teacher; every other ten may be mirrored."""
    drawn = [_drawn(int(i)) for i in indices]
    twisted = (indices // 10 % 2 == 1) & mirrored
    played = play(policy, [episode for _, episode in drawn], twisted, threads)
    assert played.obs is not None and played.actions is not None
    labels = shadow_labels(TEACHER, played.obs, played.actions, played.steps, threads, played.truth)
    valid = np.arange(TIMEOUT_STEPS) < played.steps[:, None]
    return Episodes(
        obs=played.obs[:, :TIMEOUT_STEPS][valid],
        action=played.actions[valid],
        label=labels[valid],
        index=indices.astype(np.int64),
        seed=FIRST_SEED + indices.astype(np.int64),
        shot=np.array([shot for shot, _ in drawn], np.int16),
        blackout=np.zeros(len(indices), np.int16),
        steps=played.steps,
        outcome=played.outcome,
        first_contact=played.first_contact,
        score=played.reward,
        final_obs=played.obs[np.arange(len(indices)), played.steps],
    )


def _drawn(index: int) -> tuple[int, Episode]:
    """Shot and hold of an episode: any train shot, any hold the dial goes to."""
    rng = np.random.default_rng([FIRST_SEED, index])
    members = shots(SPLIT)
    shot = int(rng.integers(0, len(members)))
    return shot, remembering(int(rng.integers(HOLDS[0], HOLDS[-1] + 1))).episode(members[shot])
