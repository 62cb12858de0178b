"""How fast students train and episodes are collected, against plain PyTorch and the bare arena, in one run."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import jax
import numpy as np

from blindsave.learning.distil.choice import make_trainer
from blindsave.learning.distil.collection import record
from blindsave.learning.distil.config import Recipe
from blindsave.learning.distil.dataset import Episodes
from blindsave.learning.distil.execution import execution_for
from blindsave.learning.distil.native import NativeTrainer
from blindsave.learning.distil.schedule import TRAINING_SEEDS, CollectionSchedule, episodes
from blindsave.learning.distil.trainer import Trainer
from blindsave.policies import closed_loop
from blindsave.policies.dreamer import AgentShape, Teacher
from blindsave.policies.students.registry import PAPER_FAMILIES, family
from blindsave.policies.students.student import Student
from blindsave.testing.training import random_episodes

LONG_SHARE = 0.1
MEAN_STEPS, SPREAD_STEPS, TIMEOUT = 36.0, 7.0, 125
EPISODES, ACCELERATED_EPISODES = 1280, 16_000
"""Training eight of ten in batches of 128 makes 8 and 100 updates: an accelerator needs a long epoch to be timed."""
Report = Callable[[str], None]


def synthetic_episodes(count: int, seed: int = 0) -> Episodes:
    """Random episodes with the lengths of the study's second stage: mostly about 36 steps, a tenth time out."""
    rng = np.random.default_rng(seed)
    short = np.clip(rng.normal(MEAN_STEPS, SPREAD_STEPS, count), 20, 64)
    steps = np.where(rng.random(count) < LONG_SHARE, TIMEOUT, short).astype(np.int16)
    return random_episodes(steps, seed=seed)


class Ours:
    """Epochs of our trainer: the one a study would use here, or with an `execution` the JAX one."""

    def __init__(self, name: str, data: Episodes, rounds: int, execution: dict[str, Any] | None = None) -> None:
        chosen = None if execution is None else execution_for(family(name), **execution)
        self.trainer = make_trainer(family(name), data, TRAINING_SEEDS, Recipe(epochs=rounds + 1), chosen)
        self.state, self.epoch = self.trainer.initial(), 0
        self.first_s = self.seconds()
        """The first epoch, which compiles where there is something to compile."""

    @property
    def native(self) -> bool:
        """Is it the trainer in C?"""
        return isinstance(self.trainer, NativeTrainer)

    def seconds(self) -> float:
        """Wall time of one epoch of all seeds."""
        self.epoch += 1
        begun = time.perf_counter()
        self.state, _ = self.trainer.run_epoch(self.state, self.epoch)
        jax.block_until_ready(self.state)
        return time.perf_counter() - begun


def torch_seconds(trainer: Any, ours: Trainer, updates: int) -> float:
    """Wall time PyTorch would need for the same epoch: a few updates of every seed, scaled to all."""
    order = ours.batches(1)
    begun = time.perf_counter()
    for seed in range(len(ours.seeds)):
        for batch in order[seed][:updates]:
            trainer.update(seed, batch[batch >= 0])
    return (time.perf_counter() - begun) * order.shape[1] / updates


def bench(
    families: Sequence[str] = PAPER_FAMILIES,
    *,
    episodes: int | None = None,
    rounds: int = 3,
    torch_updates: int = 2,
    compared: bool = True,
    collection: bool = True,
    execution: dict[str, Any] | None = None,
    report: Report | None = None,
) -> dict[str, Any]:
    """Measure the families in turn; within each, ours and PyTorch alternate, so that a slow phase hits both.

    Where an accelerator trains, the same is measured on this machine's CPU afterwards. Not `compared`: ours only.
    """
    tell = report or (lambda _line: None)
    on_cpu = jax.default_backend() == "cpu"
    episodes = episodes or (EPISODES if on_cpu else ACCELERATED_EPISODES)
    data = synthetic_episodes(episodes)
    rows = {}
    for name in families:
        rows[name] = _bench_family(name, data, rounds, torch_updates if compared else 0, execution or None)
        tell(f"{name}: {json.dumps(rows[name])}")
    result: dict[str, Any] = {
        "what": "students",
        "episodes": episodes,
        "seeds": len(TRAINING_SEEDS),
        "families": rows,
        "platform": jax.default_backend(),
        "device": jax.devices()[0].device_kind,
        "jax": jax.__version__,
    }
    if collection:
        result["collection"] = bench_collection()
        tell(f"collection: {json.dumps(result['collection'])}")
    if compared and not on_cpu:
        result["cpu"] = _bench_on_cpu(families, episodes, rounds)
        for name in families:
            ours, cpu = rows[name]["transitions_per_s"], result["cpu"]["families"][name]["transitions_per_s"]
            rows[name]["times_cpu"] = ours / cpu
    return result


def _bench_family(
    name: str, data: Episodes, rounds: int, torch_updates: int, execution: dict[str, Any] | None
) -> dict[str, Any]:
    """Time a family's epochs, and unless `torch_updates` is 0 those of JAX and PyTorch on a CPU."""
    ours = Ours(name, data, rounds, execution)
    with_jax = Ours(name, data, rounds, {}) if ours.native and torch_updates else None
    other, threads = None, 0
    if jax.default_backend() == "cpu" and torch_updates:
        other, threads = _torch_trainer(name, data, ours.trainer.batches(1)[0, 0])
    times, jax_times, torch_times = [], [], []
    for _ in range(rounds):
        times.append(ours.seconds())
        if with_jax is not None:
            jax_times.append(with_jax.seconds())
        if other is not None:
            torch_times.append(torch_seconds(other, ours.trainer, torch_updates))
    valid = ours.trainer.valid_transitions * len(TRAINING_SEEDS)
    row: dict[str, Any] = {
        "trainer": "native" if ours.native else "jax",
        "transitions_per_s": valid / median(times),
        "update_ms": 1e3 * median(times) / ours.trainer.batches(1).shape[1],
        "first_epoch_s": ours.first_s,
    }
    if jax_times:
        row["jax_transitions_per_s"] = valid / median(jax_times)
        row["times_jax"] = median(theirs / mine for theirs, mine in zip(jax_times, times, strict=True))
    if torch_times:
        row["torch_transitions_per_s"] = valid / median(torch_times)
        row["torch_threads"] = threads
        row["times_torch"] = median(theirs / mine for theirs, mine in zip(torch_times, times, strict=True))
    return row


def _torch_trainer(name: str, data: Episodes, batch: np.ndarray) -> tuple[Any, int]:
    """The PyTorch comparison and its number of threads, or (None, 0) where torch is not installed."""
    try:
        from blindsave.bench.students_torch import TorchTrainer, choose_threads
    except ModuleNotFoundError:
        return None, 0
    trainer = TorchTrainer(family(name), data, TRAINING_SEEDS, Recipe())
    return trainer, choose_threads(trainer, batch, os.cpu_count() or 1)


def _bench_on_cpu(families: Sequence[str], episodes: int, rounds: int) -> dict[str, Any]:
    asked = {"families": list(families), "episodes": episodes, "rounds": rounds, "compared": False, "collection": False}
    command = [sys.executable, "-m", "blindsave.bench.students", json.dumps(asked)]
    done = subprocess.run(
        command, env=os.environ | {"JAX_PLATFORMS": "cpu"}, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def random_teacher(seed: int = 0) -> Teacher:
    """An untrained teacher of the study's size: as slow as the trained one."""
    rng, shape = np.random.default_rng(seed), AgentShape()
    return Teacher({n: (0.05 * rng.normal(size=s)).astype(np.float32) for n, s in shape.shapes.items()})


def bench_collection(count: int = 200, rounds: int = 3, threads: int | None = None) -> dict[str, float]:
    """Control steps per second: the arena with the smallest policy, and recorded collection with shadow labels."""
    small, student = Student.untrained("feed_forward", 0), Student.untrained("structured_k0", 0)
    teacher, schedule = random_teacher(), CollectionSchedule(count)
    plays = episodes(schedule)
    arena, shadow = [], []
    for _ in range(rounds):
        begun = time.perf_counter()
        steps = closed_loop.run(small, plays, threads=threads).steps.sum()
        middle = time.perf_counter()
        recorded = len(record(student, schedule, teacher, threads=threads)["obs"])
        arena.append(steps / (middle - begun))
        shadow.append(recorded / (time.perf_counter() - middle))
    return {
        "arena_steps_per_s": float(median(arena)),
        "shadow_steps_per_s": float(median(shadow)),
        "share_of_arena": float(median(b / a for a, b in zip(arena, shadow, strict=True))),
    }


if __name__ == "__main__":  # also for machines without tyro: python -m blindsave.bench.students '{"rounds": 3}'
    print(json.dumps(bench(**json.loads(sys.argv[1] if len(sys.argv) > 1 else "{}"))))
