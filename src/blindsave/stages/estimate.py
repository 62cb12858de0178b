"""What a study takes: exact counts from its tasks, times from measured rates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from blindsave.engine import Task

PLAYED = ("arena", "teacher", "student", "shadow")
"""Units that are episodes."""
TRAINING = "train "

RATES: Mapping[str, float] = {
    "arena": 4.0e-3,
    "teacher": 5.0e-3,
    "student": 4.0e-3,
    "shadow": 5.0e-3,
    "latency": 1.0e-4,
    "report": 8.0,
    "train feed_forward": 5.0e-5,
    "train finite_stack_10": 4.5e-5,
    "train structured_k0": 8.0e-5,
    "train structured_k1": 9.0e-5,
    "train structured_k2": 9.5e-5,
    "train structured_k4": 1.0e-4,
    "train gru_n64": 2.3e-4,
    "train": 2.3e-4,
}
"""Seconds per unit on two cores of an ordinary server (an episode played; an episode seen once in training, per
seed; a timed call; a report). `blindsave bench study` measures those of the machine at hand."""

COMPILING_S = 6.0
"""Seconds to compile the training of one family and stage."""


@dataclass(frozen=True)
class Estimate:
    """One stage: tasks, episodes, passes of training episodes, seconds on this machine."""

    stage: str
    tasks: int
    episodes: int
    passes: int
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return dict(self.__dict__) | {"seconds": round(self.seconds, 1)}


def estimate(stage: str, tasks: Sequence[Task[Any]], rates: Mapping[str, float] = RATES) -> Estimate:
    """Count a stage's work and guess its time. Training may stop early, so its passes and time are upper bounds."""
    costs = [(unit, amount) for task in tasks for unit, amount in task.cost.items()]
    return Estimate(
        stage=stage,
        tasks=len(tasks),
        episodes=int(sum(amount for unit, amount in costs if unit in PLAYED)),
        passes=int(sum(amount for unit, amount in costs if unit.startswith(TRAINING))),
        seconds=sum(seconds(unit, amount, rates) for unit, amount in costs),
    )


def seconds(unit: str, amount: float, rates: Mapping[str, float] = RATES) -> float:
    """Time of so much of a unit."""
    if unit.startswith(TRAINING):
        return COMPILING_S + amount * rates.get(unit, rates["train"])
    return amount * rates[unit]


def duration(seconds: float) -> str:
    """Readable: 50 s, 12 min, 3.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
