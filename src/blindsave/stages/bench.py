"""Measure, on a sample, how long every kind of work takes one core of this machine: the rates of an estimate."""

import tempfile
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

from blindsave.policies.catalog import TEACHER, model_file
from blindsave.stages.estimate import RATES, macs
from blindsave.verify.places import brought

TRAINED_STEPS = 38
"""Steps of a typical training episode: 36 of the teacher and of good collectors, more of bad ones."""
TRAINED_ON, EPOCHS = 1280, 2
CALLS = 500
Tell = Callable[[str], None]


def measure_rates(families: Sequence[str], episodes: int, tell: Tell) -> dict[str, float]:
    """Seconds of one core per unit of `RATES`; the training of a teacher is too long to be measured."""
    trained = {name: _training(name) / macs(name) for name in families}
    for name, seconds in trained.items():
        tell(f"training {name}: {1e9 * seconds:.2f} ns per multiply-accumulate")
    rates = dict(RATES) | {"mac": median(trained.values()), "episode": _episode(episodes)}
    rates |= {"latency": _call(), "report": _core_seconds(_report)}
    tell(f"an episode: {1e3 * rates['episode']:.2f} ms; a report: {rates['report']:.1f} s")
    return rates


def _core_seconds(work: Callable[[], Any]) -> float:
    """Processor time, so that others' work does not count."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def _training(name: str) -> float:
    """Of one family: per training episode and seed."""
    from blindsave.bench.students import Ours, synthetic_episodes

    data = synthetic_episodes(TRAINED_ON)
    ours = Ours(name, data, EPOCHS)  # compiles where it must
    passes = EPOCHS * float(data.steps.sum()) / TRAINED_STEPS * len(ours.trainer.seeds)
    return _core_seconds(lambda: [ours.seconds() for _ in range(EPOCHS)]) / passes


def _episode(episodes: int) -> float:
    """Of the teacher, recorded."""
    from blindsave.learning.distil import CollectionSchedule, record
    from blindsave.policies.catalog import load_file

    teacher = load_file(model_file(TEACHER))
    record(teacher, CollectionSchedule(8))  # the first call of anything is slow
    return _core_seconds(lambda: record(teacher, CollectionSchedule(episodes))) / episodes


def _call() -> float:
    """Of one step of a student, timed as the efficiency stage does."""
    from blindsave.bench.latency import Protocol, measure
    from blindsave.policies.students.student import Student

    student, protocol = Student.untrained("structured_k0", 14303), Protocol(CALLS, 2, CALLS)
    measure(student, protocol)
    return _core_seconds(lambda: measure(student, protocol)) / (3 * CALLS)


def _report() -> None:
    """Build the report of the shipped results."""
    from blindsave.report.build import build

    with tempfile.TemporaryDirectory() as folder:
        build(brought() / "results", folder)
