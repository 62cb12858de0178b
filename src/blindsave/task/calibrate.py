"""Is the task hard for those who do nothing and possible for those who know everything? Measured on 216 shots."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blindsave.arena.constants import ROBOT_BASE_M
from blindsave.arena.simulator import Backend
from blindsave.task.controllers import hold, intercept, stay_central
from blindsave.task.defend import DefendBatch
from blindsave.task.episode import LOCKED_STEPS, UNDISTURBED
from blindsave.task.outcomes import TIMEOUT_STEPS, Outcome
from blindsave.task.shots import APPROACH_PLANE_X_M, Shot, shots

CONTROL_STEPS_PER_S = 50
Rule = Callable[[NDArray[np.float32], NDArray[np.float64]], NDArray[np.float32]]
RULES: dict[str, Rule] = {
    "inactive": lambda obs, _truth: hold(obs),
    "fixed_centre": lambda obs, _truth: stay_central(obs),
    "privileged": lambda _obs, truth: intercept(truth),
}


@dataclass(frozen=True)
class Play:
    """What one rule made of every shot."""

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


def play(rule: Rule, members: Sequence[Shot], *, locked_steps: int = LOCKED_STEPS, backend: Backend = "auto") -> Play:
    """Let a rule defend every shot, all side by side."""
    batch = DefendBatch(len(members), backend=backend)
    batch.reset([UNDISTURBED.episode(shot, 0, locked_steps) for shot in members])
    approach_s = np.full(len(members), np.nan)
    plane_x_robot_m = APPROACH_PLANE_X_M - ROBOT_BASE_M[0]
    for step in range(1, TIMEOUT_STEPS + 1):
        running = np.flatnonzero(batch.outcome == Outcome.RUNNING)
        if not len(running):
            break
        batch.step(rule(batch.obs[running], batch.truth[running]), running)
        arrived = np.isnan(approach_s) & (batch.truth[:, 0] <= plane_x_robot_m)
        approach_s[arrived] = step / CONTROL_STEPS_PER_S
    return Play([Outcome(code) for code in batch.outcome], approach_s)


def calibrate(split: str = "calibration", *, locked_steps: int = LOCKED_STEPS, backend: Backend = "auto") -> dict:
    """Play a split with all three rules and report exact counts."""
    members = shots(split)
    plays = {name: play(rule, members, locked_steps=locked_steps, backend=backend) for name, rule in RULES.items()}
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
