"""What a study takes: exact counts from its tasks, and a time from a few measured rates."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from typing import Any

from blindsave.engine import Task

TRAINING, TEACHING = "train ", "teaching"
PLAYED = ("arena", "teacher", "student", "shadow")
"""Units of a task's cost that are episodes: whoever plays, the simulation takes most of the time."""
RATES = {"episode": 6.8e-3, "mac": 3.0e-9, "latency": 1.0e-4, "report": 8.0, TEACHING: 6.5e-2}
"""Seconds of ONE core: per episode played; per multiply-accumulate of a family, training episode and seed; per timed
call; per report; per environment step of the teacher's training. Processor time of an AMD EPYC server, the other core
equally busy. 20,000 teacher episodes of the paper-scale run took 6.4e-3 each; seventeen families from 5 to 76 kMAC,
trained in C, took between 2.6e-9 and 3.5e-9. `blindsave bench study` measures the machine at hand."""
FEWEST_MACS = 3000
"""Smaller families train no faster: multiplying is no longer what takes the time (0.4 to 1.4 kMAC took 8 to 16 us)."""


@dataclass(frozen=True)
class Estimate:
    """One stage: tasks, episodes, passes of training episodes, and times in seconds."""

    stage: str
    tasks: int
    episodes: int
    passes: int
    core_s: float
    """Of one core: what all cores together have to spend."""
    seconds: float
    """On the wall, on the cores asked about."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        times = {"core_s": round(self.core_s, 1), "seconds": round(self.seconds, 1)}
        return asdict(self) | times | {"cpu_hours": round(self.core_s / 3600, 4)}


def estimate(
    stage: str, tasks: Sequence[Task[Any]], cores: int, seeds: int = 1, rates: Mapping[str, float] = RATES
) -> Estimate:
    """Count a stage's work and guess its time; `seeds` are those of a training, which cores can share.

    Training may stop early, so its passes and times are upper bounds.
    """
    costs = [(unit, amount) for task in tasks for unit, amount in task.cost.items()]
    spent = [(core_seconds(unit, amount, rates), _most_cores(unit, len(tasks) * seeds)) for unit, amount in costs]
    return Estimate(
        stage=stage,
        tasks=len(tasks),
        episodes=int(sum(amount for unit, amount in costs if unit in PLAYED)),
        passes=int(sum(amount for unit, amount in costs if unit.startswith(TRAINING))),
        core_s=sum(seconds for seconds, _ in spent),
        seconds=sum(seconds / min(cores, most or cores) for seconds, most in spent),
    )


def core_seconds(unit: str, amount: float, rates: Mapping[str, float] = RATES) -> float:
    """Time of one core for so much of a unit of a task's cost."""
    if unit.startswith(TRAINING):
        return amount * rates["mac"] * max(FEWEST_MACS, macs(unit.removeprefix(TRAINING)))
    return amount * rates["episode" if unit in PLAYED else unit]


def total(estimates: Sequence[Estimate], times: int = 1) -> Estimate:
    """All stages together, one after the other, so many times."""
    numbers = [field.name for field in fields(Estimate) if field.name != "stage"]
    return Estimate("all", **{name: times * sum(getattr(one, name) for one in estimates) for name in numbers})


def duration(seconds: float) -> str:
    """Readable: 50 s, 12 min, 3.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    hours = seconds / 3600
    return f"{seconds / 60:.0f} min" if hours < 1.5 else f"{hours:.1f} h" if hours < 100 else f"{hours:,.0f} h"


@lru_cache(maxsize=1024)
def macs(name: str) -> int:
    """Multiply-accumulates of one step of a family."""
    from blindsave.policies.students.accounting import cost
    from blindsave.policies.students.registry import family

    return cost(family(name)).macs


def _most_cores(unit: str, trainings: int) -> int | None:
    """How many cores can share it: episodes any number, trainings one each, a teacher two (none was tried on more)."""
    if unit in PLAYED:
        return None
    return trainings if unit.startswith(TRAINING) else 2 if unit == TEACHING else 1
