"""Is the task hard for those who do nothing and possible for those who know everything? Measured on 216 shots."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blindsave.arena.constants import ROBOT_BASE_M
from blindsave.arena.simulator import Backend
from blindsave.policies.base import Policy
from blindsave.policies.closed_loop import run
from blindsave.policies.scripted import SCRIPTED
from blindsave.task.episode import LOCKED_STEPS, Episode
from blindsave.task.outcomes import TIMEOUT_STEPS, Outcome
from blindsave.task.shots import APPROACH_PLANE_X_M, Shot, shots

CONTROL_STEPS_PER_S = 50


@dataclass(frozen=True)
class Play:
    """What one policy made of every shot."""

    outcomes: list[Outcome]
    approach_s: NDArray[np.float64]
    """When the puck first reached the approach plane; NaN if it never did."""

    def summary(self) -> dict[str, object]:
        """Counts for people and programs."""
        return {
            "conceded": self.outcomes.count(Outcome.GOAL_CONCEDED),
            "saved": sum(outcome.saved for outcome in self.outcomes),
            "faults": sum(outcome.faulty for outcome in self.outcomes),
            "outcomes": dict(sorted(Counter(outcome.label for outcome in self.outcomes).items())),
        }


def play(
    policy: Policy, members: Sequence[Shot], *, locked_steps: int = LOCKED_STEPS, backend: Backend = "auto"
) -> Play:
    """Let a policy defend every shot, all side by side."""
    episodes = [Episode(shot, locked_steps=locked_steps) for shot in members]
    played = run(policy, episodes, record=True, backend=backend)
    assert played.truth is not None
    steps = np.arange(1, TIMEOUT_STEPS + 1)
    there = (played.truth[:, 1:, 0] <= APPROACH_PLANE_X_M - ROBOT_BASE_M[0]) & (steps <= played.steps[:, None])
    approach_s = np.where(there.any(axis=1), steps[there.argmax(axis=1)] / CONTROL_STEPS_PER_S, np.nan)
    return Play([Outcome(code) for code in played.outcome], approach_s)


def calibrate(split: str = "calibration", *, locked_steps: int = LOCKED_STEPS, backend: Backend = "auto") -> dict:
    """Play a split with the three scripted policies and report exact counts."""
    members = shots(split)
    plays = {name: play(one, members, locked_steps=locked_steps, backend=backend) for name, one in SCRIPTED.items()}
    arrivals = plays["inactive"].approach_s
    arrived = arrivals[~np.isnan(arrivals)]
    return {
        **{name: result.summary() for name, result in plays.items()},
        "shots": len(members),
        "faults": sum(outcome.faulty for result in plays.values() for outcome in result.outcomes),
        "split": split,
        "locked_steps": locked_steps,
        "reached_approach_plane": len(arrived),
        "approach_time_s": [float(arrived.min()), float(arrived.max())] if len(arrived) else None,
    }
