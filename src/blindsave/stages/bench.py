"""Measure, on a sample, how long every kind of work takes on this machine."""

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from blindsave.policies.catalog import model_file
from blindsave.stages.estimate import RATES

EPOCHS = 3


def measure_rates(
    families: Sequence[str], episodes: int, threads: int | None, tell: Callable[[str], None]
) -> dict[str, float]:
    """Seconds per unit of `RATES`, measured where a sample is cheap; the report's time is measured by building one."""
    from blindsave.learning.distil import Schedule, record
    from blindsave.learning.distil.bench import Ours
    from blindsave.policies.catalog import load_file
    from blindsave.policies.latency import Protocol, measure
    from blindsave.policies.scripted import FIXED_CENTRE
    from blindsave.policies.students.student import Student

    teacher: Any = load_file(model_file("teacher"))
    student = Student.untrained("structured_k0", 14303)
    drawn, rates = Schedule(episodes), dict(RATES)

    def timed(unit: str, amount: float, work: Callable[[], Any]) -> Any:
        begun = time.perf_counter()
        result = work()
        rates[unit] = (time.perf_counter() - begun) / amount
        tell(f"{unit}: {rates[unit]:.2e} s")
        return result

    record(student, replace(drawn, episodes=8), threads=threads)  # warm
    timed("arena", episodes, lambda: record(FIXED_CENTRE, drawn, threads=threads))
    data = timed("teacher", episodes, lambda: record(teacher, drawn, threads=threads))
    timed("student", episodes, lambda: record(student, drawn, threads=threads))
    timed("shadow", episodes, lambda: record(student, drawn, teacher, threads=threads))
    calls = 1000
    timed("latency", 2 * calls, lambda: measure(student, Protocol(calls, 1, calls)))
    timed("report", 1, _report)
    from blindsave.learning.distil.dataset import Episodes

    sample = Episodes(**data)
    for name in families:
        ours = Ours(name, sample, EPOCHS, {})
        seeds = len(ours.trainer.seeds)
        timed(f"train {name}", EPOCHS * episodes * seeds, lambda ours=ours: [ours.seconds() for _ in range(EPOCHS)])
    return rates


def _report() -> None:
    """Build the report of the shipped results."""
    from blindsave.report.build import build

    with tempfile.TemporaryDirectory() as folder:
        build(Path(__file__).resolve().parents[3] / "results", folder)
