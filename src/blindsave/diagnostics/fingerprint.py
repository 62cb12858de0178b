"""What makes a teacher this one and no other: figures of how it plays, comparable between teachers.

    saves            by blackout length on validation shots, from its mean actions and, where it can, from sampled ones
    outcomes         how those episodes ended
    state_reset      what is lost where its state is erased when the puck disappears, on the shots of the memory test
    nearest_history  how far its validation histories are from its training histories, and how much the labels of the
                     16 nearest ones differ: the diagnostic of the paper, on the study's own base episodes
    roughness        how much its requests change from step to step
    timing           steps of an episode, first touch, and when its arm has gone half its way sideways

Everything is a function of the teacher alone: nothing is drawn but what the schedules of the study draw.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindsave.arena.constants import CONTROL_DT_S
from blindsave.diagnostics.nearest import teacher_histories
from blindsave.diagnostics.played import Saves, clear_episodes, outcome_counts, saves_by_length
from blindsave.diagnostics.roughness import roughness
from blindsave.diagnostics.teacher_files import FoundTeacher
from blindsave.errors import BadInput
from blindsave.learning.distil.config import TRAIN_DIGITS, VALIDATION_DIGIT
from blindsave.learning.distil.schedule import EPISODES, SPLIT, base_schedule, draw, episodes
from blindsave.policies import closed_loop
from blindsave.policies.reset import ResetAt
from blindsave.task.conditions import grid
from blindsave.task.episode import LOCKED_STEPS
from blindsave.task.interface import MALLET, mallet_m
from blindsave.task.results import EpisodeResults
from blindsave.task.shots import Shot, shots

LENGTHS = (0, 5, 10, 15, 20)
RESET_LENGTHS = LENGTHS[1:]
VALIDATION, RESET_SPLIT = "validation", "test"
TIMED_EPISODES = 2000
"""Of the base schedule, whose mean length the paper states for its teacher."""
SHORTEST_WAY_M = 0.02
"""Arms that have less to go say nothing about when they went."""
Progress = Callable[[int], None]


@dataclass(frozen=True)
class Extent:
    """How much is played: the study's own grids, unless a trial takes less."""

    shots: int | None = None
    """Of each split, from its beginning; None for all."""
    episodes: int = EPISODES
    """Of the base schedule; those without blackout (one in 21) are played for the nearest histories."""

    def members(self, split: str) -> list[Shot]:
        """The shots of a split."""
        return list(shots(split)[: self.shots])

    def __post_init__(self) -> None:
        if self.episodes > EPISODES:
            raise BadInput(f"the base schedule has {EPISODES:,} episodes, and {self.episodes:,} were asked for")
        digits = {number % 10 for number in self.clear}
        if not digits & set(TRAIN_DIGITS) or VALIDATION_DIGIT not in digits:
            raise BadInput(
                f"{self.episodes} base episodes hold none without blackout for training or for validation; take more"
            )

    def count(self, teacher: FoundTeacher) -> int:
        """Episodes that the fingerprint of a teacher plays."""
        grids = len(LENGTHS) * len(self.members(VALIDATION)) * (2 if teacher.can_be_sampled else 1)
        resets = 2 * len(RESET_LENGTHS) * len(self.members(RESET_SPLIT))
        return grids + resets + len(self.clear) + self.timed

    @property
    def timed(self) -> int:
        """Base episodes whose length is measured."""
        return min(TIMED_EPISODES, self.episodes)

    @cached_property
    def clear(self) -> dict[int, Shot]:
        """The base episodes without blackout: number and shot."""
        drawn, known = draw(base_schedule(self.episodes)), shots(SPLIT)
        return {int(number): known[drawn.shot[number]] for number in np.flatnonzero(drawn.blackout == 0)}


def fingerprint(
    teacher: FoundTeacher,
    extent: Extent | None = None,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """The fingerprint of one teacher, JSON-ready."""
    extent = extent or Extent()
    policy = teacher.policy
    play = {"threads": threads, "progress": progress}
    validation = closed_loop.run(policy, grid(extent.members(VALIDATION), LENGTHS), record=True, **play)
    drawn = sampled(teacher, extent, threads, progress)
    modes = {"deterministic": validation} | ({} if drawn is None else {"sampled": drawn})
    timed = closed_loop.run(policy, episodes(base_schedule(extent.timed)), **play)
    return {
        **teacher.about,
        "sha256": teacher.sha256,
        "saves": {mode: saves_by_length(played, LENGTHS) for mode, played in modes.items()},
        "outcomes": {mode: outcome_counts(played) for mode, played in modes.items()},
        "state_reset": state_reset(teacher, extent, threads, progress),
        "nearest_history": nearest_histories(teacher, extent, threads, progress),
        "roughness": roughness(validation),
        "timing": {"steps": float(timed.steps.mean()), **timing(validation)},
    }


def sampled(
    teacher: FoundTeacher, extent: Extent, threads: int | None = None, progress: Progress | None = None
) -> EpisodeResults | None:
    """The validation grid with latents and actions drawn, as checkpoints are selected; None without the agent."""
    if teacher.agent is None or not teacher.can_be_sampled:
        return None
    from blindsave.learning.dreamer.checkpoint import load_params
    from blindsave.learning.dreamer.validate import Evaluator

    params, config = load_params(teacher.agent)
    played = Evaluator(config, grid(extent.members(VALIDATION), LENGTHS), threads).run(params, "sampled")
    if progress:
        progress(len(played))
    return played


def state_reset(
    teacher: FoundTeacher, extent: Extent, threads: int | None = None, progress: Progress | None = None
) -> dict[str, dict[str, float]]:
    """Saves with and without the state, and the drop in points, by blackout length."""
    trials = grid(extent.members(RESET_SPLIT), RESET_LENGTHS)
    kept, lost = (
        saves_by_length(closed_loop.run(policy, trials, threads=threads, progress=progress), RESET_LENGTHS)
        for policy in (teacher.policy, ResetAt(teacher.policy))
    )
    return {length: _drop(kept, lost, length) for length in kept}


def _drop(kept: Saves, lost: Saves, length: str) -> dict[str, float]:
    whole, without, count = kept[length]["saves"], lost[length]["saves"], kept[length]["shots"]
    return {"saves": whole, "saves_after_reset": without, "shots": count, "drop": 100 * (whole - without) / count}


def nearest_histories(
    teacher: FoundTeacher, extent: Extent, threads: int | None = None, progress: Progress | None = None
) -> dict[str, float]:
    """Distances of the teacher's validation histories from its training histories, and local label variance."""
    numbers = np.array(list(extent.clear), np.int64)
    base = clear_episodes(teacher.policy, list(extent.clear.values()), threads, numbers, progress)
    described = teacher_histories(base)[1]
    assert described is not None  # every extent has a validation episode
    digit = numbers % 10
    counts = {"training_episodes": int(np.isin(digit, TRAIN_DIGITS).sum())}
    return described | counts | {"validation_episodes": int((digit == VALIDATION_DIGIT).sum())}


def timing(played: EpisodeResults) -> dict[str, float | None]:
    """When the puck is first touched, and when the arm has gone half its way sideways to that place.

    In ms since the release of the lock, means over the episodes of a grid with the longest blackout and a touch;
    `halfway_ms` only over arms that go somewhere. The side is what twins differ in, so it shows how early a teacher
    commits itself.
    """
    assert played.obs is not None
    rows = np.arange(len(LENGTHS) - 1, len(played), len(LENGTHS))
    rows = rows[played.first_contact[rows] >= LOCKED_STEPS]
    touch = played.first_contact[rows].astype(int)
    side = mallet_m(played.obs[rows][:, :, MALLET])[:, :, 1]
    gone = np.abs(side - side[:, LOCKED_STEPS, None])
    way = gone[np.arange(len(rows)), touch]
    released = np.arange(gone.shape[1]) >= LOCKED_STEPS
    half = np.argmax((gone >= way[:, None] / 2) & released, axis=1)[way >= SHORTEST_WAY_M]
    return {"first_contact_ms": _since_release_ms(touch), "halfway_ms": _since_release_ms(half)}


def _since_release_ms(steps: NDArray[np.integer]) -> float | None:
    return float((steps - LOCKED_STEPS).mean() * 1000 * CONTROL_DT_S) if len(steps) else None
