"""Measure, on a sample, how long every kind of work takes one core of this machine."""

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from blindsave.policies.catalog import model_file
from blindsave.stages.rates import TRAINING, macs, rates_here

STEPS = 40
"""Control steps of a typical episode; an untrained student's are longer, so its time is taken per step."""
TRAINED_STEPS = 38
"""Steps of a typical training episode: 36 of the teacher and of good collectors, more of bad ones."""
TRAINED_ON, EPOCHS = 1280, 2
CALLS = 500
Tell = Callable[[str], None]


class Clock:
    """Seconds of a core per unit, measured one after the other: processor time, so that others' work does not count."""

    def __init__(self, tell: Tell) -> None:
        self.rates, self.tell = dict(rates_here()), tell

    def time(self, unit: str, work: Callable[[], float]) -> None:
        """Time some work; it returns how many units it did."""
        begun = time.process_time()
        amount = work()
        self.rates[unit] = (time.process_time() - begun) / amount
        self.tell(f"{unit}: {self.rates[unit]:.2e} s")


def measure_rates(families: Sequence[str], episodes: int, tell: Tell) -> dict[str, float]:
    """Seconds of one core per unit of `RATES` on this machine."""
    clock = Clock(tell)
    with one_core():
        _measure_playing(clock, episodes, threads=1)
        _measure_training(clock, families)
        clock.time("report", _report)
    measured = [clock.rates[f"{TRAINING}{name}"] / macs(name) for name in families]
    clock.rates["per mac"] = median(measured)
    return clock.rates


@contextmanager
def one_core() -> Iterator[None]:
    """Stay on one core: the rates of a plan are those of one."""
    pins = hasattr(os, "sched_setaffinity")
    before = os.sched_getaffinity(0) if pins else set()
    if pins:
        os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        if pins:
            os.sched_setaffinity(0, before)


def _measure_playing(clock: Clock, episodes: int, threads: int | None) -> None:
    from blindsave.bench.latency import Protocol, measure
    from blindsave.learning.distil import Schedule, record
    from blindsave.policies.catalog import load_file
    from blindsave.policies.scripted import FIXED_CENTRE
    from blindsave.policies.students.student import Student

    teacher: Any = load_file(model_file("teacher"))
    student, drawn = Student.untrained("structured_k0", 14303), Schedule(episodes)

    def play(policy: Any, labels: Any = None) -> float:
        return len(record(policy, drawn, labels, threads=threads)["obs"]) / STEPS

    def step() -> float:
        measure(student, Protocol(CALLS, 2, CALLS))
        return 3 * CALLS

    record(student, replace(drawn, episodes=8), threads=threads)  # the first call of anything is slow
    step()
    clock.time("arena", lambda: play(FIXED_CENTRE))
    clock.time("teacher", lambda: play(teacher))
    clock.time("student", lambda: play(student))
    clock.time("shadow", lambda: play(student, teacher))
    clock.time("latency", step)


def _measure_training(clock: Clock, families: Sequence[str]) -> None:
    from blindsave.bench.students import Ours, synthetic_episodes

    data = synthetic_episodes(TRAINED_ON)
    for name in families:
        ours = Ours(name, data, EPOCHS)  # compiles where it must
        passes = EPOCHS * data.steps.sum() / TRAINED_STEPS * len(ours.trainer.seeds)

        def train(ours: Ours = ours, passes: float = passes) -> float:
            for _ in range(EPOCHS):
                ours.seconds()
            return passes

        clock.time(f"train {name}", train)


def _report() -> float:
    """Build the report of the shipped results."""
    from blindsave.report.build import build

    with tempfile.TemporaryDirectory() as folder:
        build(Path(__file__).resolve().parents[3] / "results", folder)
    return 1
