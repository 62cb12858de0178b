"""What a study takes: exact counts from its tasks, times from measured rates (`rates`)."""

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from blindsave.engine import Task
from blindsave.engine.machine import cores
from blindsave.stages.rates import GPU_RATES, RATES, TEACHING, THREADS_EXPONENT, TRAINING, gpu_seconds, training_rate

PLAYED = ("arena", "teacher", "student", "shadow")
"""Units that are episodes; they share cores almost perfectly."""
Costs = list[tuple[str, float]]


@dataclass(frozen=True)
class Machine:
    """What a study may use: so many cores, and workers that each do one task at a time (one per core by default)."""

    cores: int = 1
    workers: int | None = None

    def share(self, tasks: int) -> tuple[int, int]:
        """How many of so many tasks are done at a time, and threads of each."""
        together = max(1, min(self.workers or self.cores, tasks))
        return together, max(1, self.cores // together)


def this_machine(workers: int | None = None) -> Machine:
    """All cores that this process may use."""
    return Machine(cores(), workers)


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
    """On the wall, on the machine asked about."""
    gpu_s: float | None = 0.0
    """Of a GPU, were the training done there (the measured families); None where it was measured for none."""
    gpu_unmeasured: tuple[str, ...] = ()
    """Families whose training was never timed on a GPU."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        times = {"core_s": round(self.core_s, 1), "seconds": round(self.seconds, 1)}
        gpu = None if self.gpu_s is None else round(self.gpu_s, 1)
        hours = {"cpu_hours": hours_of(self.core_s), "gpu_hours": None if self.gpu_s is None else hours_of(self.gpu_s)}
        return dict(self.__dict__) | times | {"gpu_s": gpu, "gpu_unmeasured": list(self.gpu_unmeasured)} | hours

    def times(self, count: int) -> "Estimate":
        """The same stage so many times, one after the other."""
        gpu = None if self.gpu_s is None else count * self.gpu_s
        counts = (count * self.tasks, count * self.episodes, count * self.passes)
        return Estimate(self.stage, *counts, count * self.core_s, count * self.seconds, gpu, self.gpu_unmeasured)


def estimate(
    stage: str,
    tasks: Sequence[Task[Any]],
    rates: Mapping[str, float] = RATES,
    machine: Machine | None = None,
    batch: int = 128,
    seeds: int = 1,
    gpu_rates: Mapping[str, float] = GPU_RATES,
) -> Estimate:
    """Count a stage's work and guess its time; `batch` and `seeds` are those of its trainings.

    Training may stop early, so its passes and times are upper bounds.
    """
    machine = machine or this_machine()
    costs: Costs = [(unit, amount) for task in tasks for unit, amount in task.cost.items()]
    gpu = {unit: gpu_seconds(unit, amount, batch, gpu_rates) for unit, amount in costs if learns(unit)}
    measured = [s for s in gpu.values() if s is not None]
    return Estimate(
        stage=stage,
        tasks=len(tasks),
        episodes=int(sum(amount for unit, amount in costs if unit in PLAYED)),
        passes=int(sum(amount for unit, amount in costs if unit.startswith(TRAINING))),
        core_s=sum(core_seconds(unit, amount, rates) for unit, amount in costs),
        seconds=wall_seconds([list(task.cost.items()) for task in tasks], rates, machine, seeds),
        gpu_s=None if gpu and not measured else sum(measured),
        gpu_unmeasured=tuple(unit.removeprefix(TRAINING) for unit, s in gpu.items() if s is None),
    )


def core_seconds(unit: str, amount: float, rates: Mapping[str, float] = RATES) -> float:
    """Time of one core for so much of a unit."""
    if unit.startswith(TRAINING):
        return rates["start"] + amount * training_rate(unit, rates)
    return amount * rates[unit]


def wall_seconds(tasks: Sequence[Costs], rates: Mapping[str, float], machine: Machine, seeds: int = 1) -> float:
    """Time until the last task is done: the longest first, each to the worker that is free first."""
    workers, threads = machine.share(len(tasks))
    free = [0.0] * workers
    alone = (
        sum(core_seconds(unit, amount, rates) / gain(unit, threads, seeds) for unit, amount in costs) for costs in tasks
    )
    for seconds in sorted(alone, reverse=True):
        heapq.heappush(free, heapq.heappop(free) + seconds)
    return max(free)


def learns(unit: str) -> bool:
    """Whether a GPU would do it."""
    return unit == TEACHING or unit.startswith(TRAINING)


def gain(unit: str, threads: int, seeds: int) -> float:
    """How much faster a task gets with more threads: playing by episodes, training by whole seeds, nothing else.

    The teacher's training was measured on two cores, and no more.
    """
    if unit in PLAYED:
        return threads**THREADS_EXPONENT
    if unit == TEACHING:
        return min(threads, 2)
    return seeds / math.ceil(seeds / threads) if unit.startswith(TRAINING) else 1.0


def total(estimates: Sequence[Estimate]) -> Estimate:
    """All stages together, one after the other."""
    gpu = [one.gpu_s for one in estimates if one.gpu_s]
    untimed = dict.fromkeys(name for one in estimates for name in one.gpu_unmeasured)
    return Estimate(
        stage="all",
        tasks=sum(one.tasks for one in estimates),
        episodes=sum(one.episodes for one in estimates),
        passes=sum(one.passes for one in estimates),
        core_s=sum(one.core_s for one in estimates),
        seconds=sum(one.seconds for one in estimates),
        gpu_s=None if untimed and not gpu else sum(gpu),
        gpu_unmeasured=tuple(untimed),
    )


def hours_of(seconds: float) -> float:
    """Hours, to a second."""
    return round(seconds / 3600, 4)


def duration(seconds: float) -> str:
    """Readable: 50 s, 12 min, 3.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    hours = seconds / 3600
    return f"{seconds / 60:.0f} min" if hours < 1.5 else f"{hours:.1f} h" if hours < 100 else f"{hours:,.0f} h"
