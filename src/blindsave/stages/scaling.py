"""How evaluation and collection get faster with more workers: the study's own tasks, timed."""

import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from blindsave.engine import Task, Workers
from blindsave.engine.machine import cores
from blindsave.learning.distil.collection import SHARD_EPISODES
from blindsave.stages import distillation, measuring
from blindsave.stages.scales import SMOKE, Scale
from blindsave.stages.site import Site

Tell = Callable[[str], None]
TASKS_EACH = 3
"""Tasks per worker and round."""


def worker_counts(most: int) -> list[int]:
    """1, 2, 4, ... up to the number of cores, which is always among them."""
    found = [1]
    while found[-1] * 2 < most:
        found.append(found[-1] * 2)
    return found if most == 1 else [*found, most]


def measure_scaling(counts: Sequence[int], rounds: int, tell: Tell) -> dict[str, Any]:
    """Episodes per second by kind of work and number of workers, in alternating rounds.

    Efficiency is the median, over rounds, of (rate of n workers) / (n times the rate of one worker in the same round).
    """
    engines = {count: Workers(count) for count in counts}
    rates: dict[str, dict[int, list[float]]] = {kind: {n: [] for n in counts} for kind in KINDS}
    try:
        for number in range(-1, rounds):  # the first round starts processes and is not counted
            for kind, make in KINDS.items():
                for count, engine in engines.items():
                    rate = _rate(engine, make, count * (TASKS_EACH if number >= 0 else 1))
                    if number >= 0:
                        rates[kind][count].append(rate)
                        tell(f"{kind}, {count} workers: {rate:.1f} episodes/s")
    finally:
        for engine in engines.values():
            engine.stop()
    return {kind: {str(n): _summary(found, n) for n in counts} for kind, found in rates.items()}


def _summary(found: dict[int, list[float]], count: int) -> dict[str, Any]:
    shares = [rate / (count * single) for rate, single in zip(found[count], found[1], strict=True)]
    return {
        "episodes_per_s": round(statistics.median(found[count]), 2),
        "efficiency": round(statistics.median(shares), 4),
        "rounds": [round(rate, 2) for rate in found[count]],
    }


def _rate(engine: Workers, make: Callable[[Path, int], tuple[Site, list[Task[Site]]]], tasks: int) -> float:
    """Episodes per second of some equal tasks of a fresh study."""
    with tempfile.TemporaryDirectory() as folder:
        site, chosen = make(Path(folder), tasks)
        begun = time.perf_counter()
        engine.run(site, chosen, lambda event: None)
        seconds = time.perf_counter() - begun
    return sum(sum(task.cost.values()) for task in chosen) / seconds


def _evaluation(folder: Path, tasks: int) -> tuple[Site, list[Task[Site]]]:
    """As many untrained students as there are tasks play the validation grid."""
    from blindsave.policies.students.student import Student

    family, seeds = SMOKE.families[-1], tuple(range(1, tasks + 1))
    site = _site(folder, replace(SMOKE, families=(family,), training_seeds=seeds, shadow_episodes=tasks))
    for seed in seeds:
        Student.untrained(family, seed).save(site.student_file(family, seed))
    return site, measuring.validation_tasks(site.scale)[:-1]


def _collection(folder: Path, tasks: int) -> tuple[Site, list[Task[Site]]]:
    """The teacher plays as many shards as there are tasks."""
    site = _site(folder, replace(SMOKE, base_episodes=tasks * SHARD_EPISODES))
    return site, distillation.base_tasks(site.scale)


def _site(folder: Path, scale: Scale) -> Site:
    site = Site(folder, scale, threads=1, quiet=True)
    site.publish(site.teacher_file, site.teacher_source.read_bytes())
    return site


KINDS = {"evaluation": _evaluation, "collection": _collection}


def bench_scaling(rounds: int, tell: Tell, most: int | None = None) -> dict[str, Any]:
    """Measure at 1, 2, 4, ... workers up to all cores."""
    from blindsave import store

    found = measure_scaling(worker_counts(most or cores()), rounds, tell)
    return {"scaling": found, "rounds": rounds} | store.provenance()
