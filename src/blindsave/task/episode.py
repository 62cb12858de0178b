"""One episode, fully specified: which shot, what is told of it, and what else is different this time."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindsave.errors import BadInput
from blindsave.task.outcomes import TIMEOUT_STEPS
from blindsave.task.shots import Shot
from blindsave.task.tracking import CLEAR, RECORD, Tracking

LOCKED_STEPS = 5


@dataclass(frozen=True, eq=False)
class Episode:
    """Everything that decides an episode besides the policy.

    During the first `locked_steps` control steps the mallet holds its place whatever the policy says.
    `puck_drag` scales the puck's drag on the table; 1 is the arena as built.
    """

    shot: Shot
    tracking: Tracking = CLEAR
    locked_steps: int = LOCKED_STEPS
    puck_drag: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.locked_steps <= TIMEOUT_STEPS:
            raise BadInput(f"locked_steps must be between 0 and {TIMEOUT_STEPS}, got {self.locked_steps}")
        if not (math.isfinite(self.puck_drag) and self.puck_drag >= 0):
            raise BadInput(f"puck_drag must be a finite factor, zero or more, got {self.puck_drag}")


def records(episodes: Sequence[Episode]) -> NDArray[Any]:
    """What happens in the episodes, as the compiled core reads it."""
    found = np.zeros(len(episodes), RECORD)
    for i, episode in enumerate(episodes):
        found[i] = episode.tracking.record
    found["drag"] = [episode.puck_drag for episode in episodes]
    found["locked_steps"] = [episode.locked_steps for episode in episodes]
    return found
