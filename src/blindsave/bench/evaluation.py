"""What an evaluation costs beyond simulation: paired timing of a grid and of the bare task with the same steps."""

import time
from typing import Any

import numpy as np

from blindsave.evidence.grid import play
from blindsave.evidence.schedule import Schedule, schedule
from blindsave.policies import NamedPolicy, resolve
from blindsave.task.shots import shots

LENGTHS = (0, 5, 10, 15, 20, 25)


def bench_evaluate(name: str, count: int, rounds: int, threads: int | None) -> dict[str, Any]:
    """Time a grid of the principal test and the simulator in turns; ratio = evaluation / (steps / rate)."""
    from blindsave.arena import native
    from blindsave.bench.sim import Load

    one = _policy(name)
    grid = schedule("principal_test", LENGTHS, members=shots("principal_test")[:count])
    workers = native.threads_or_default(threads)
    load = Load(256, workers)
    play(one, Schedule(grid.split, grid.shots[:1], grid.blackouts), threads=workers)
    evaluation, cost, steps = [], [], 0
    for _ in range(rounds):
        before = load.rate(load.controlled)
        started = time.perf_counter()
        table = play(one, grid, threads=workers)
        evaluation.append(time.perf_counter() - started)
        steps = int(np.asarray(table["steps"], dtype=np.int64).sum())
        after = load.rate(load.controlled)
        cost.append(steps / (0.5 * (before + after)))
    return {
        "policy": one.name,
        "episodes": len(grid),
        "control_steps": steps,
        "threads": workers,
        "evaluation_s": float(np.median(evaluation)),
        "simulation_s": float(np.median(cost)),
        "times_simulation": float(np.median(np.array(evaluation) / np.array(cost))),
        "rounds": rounds,
    }


def _policy(name: str) -> NamedPolicy:
    from blindsave.policies.students.registry import find
    from blindsave.policies.students.student import Student

    if find(name):
        return NamedPolicy(name, 14303, Student.untrained(name, 14303), "untrained")
    return resolve(name)
