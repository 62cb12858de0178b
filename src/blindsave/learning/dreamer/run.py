"""Train and validate teachers in a folder: what `blindsave teacher` and `python -m blindsave.learning.dreamer` do."""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from blindsave.errors import BadInput
from blindsave.task.conditions import CLEAN_NAME, condition

BEGUN = time.monotonic()


def train_teacher(
    folder: Path,
    *,
    minutes: float | None = None,
    steps: int = 1_000_000,
    envs: int = 32,
    train_ratio: int = 80,
    seed: int = 7303,
    sampling_seed: int = 5303,
    sampler: str = "uniform",
    timeouts: str = "truncate",
    population: int = 1,
    conditions: Sequence[str] = (CLEAN_NAME,),
    threads: int | None = None,
    sizes: dict[str, Any] | None = None,
    learning: dict[str, Any] | None = None,
    speed: dict[str, Any] | None = None,
    latents: str = "on_stop",
    checkpoint_every: int = 20_000,
    log_every: int = 2_000,
    quiet: bool = False,
    watch: Callable[[Mapping[str, Any]], None] | None = None,
) -> dict[str, Any]:
    """Train, or continue training, in `folder`; `minutes` counts from the start of the process.

    A population trains with the seeds seed, seed + 1, ..., each teacher in FOLDER/SEED; they all draw the same shots.
    `sizes`, `learning` and `speed` override fields of the configuration's parts (smaller networks, for instance).
    `conditions` are what happens in the episodes besides blackouts, in equal shares. `watch` is shown every line of
    metrics.
    """
    import jax

    from blindsave.learning.dreamer import runtime
    from blindsave.learning.dreamer.config import Config, Learning, Replay, Sizes, Speed, Training
    from blindsave.learning.dreamer.defend_stream import DefendStream
    from blindsave.learning.dreamer.trainer import Trainer

    runtime.use_cache(Path(folder) / "cache")
    kept = (checkpoint_every, log_every, latents)
    names = tuple(condition(name).name for name in conditions)
    training = Training(steps, envs, train_ratio, seed, *kept, timeouts, population, names)  # type: ignore[arg-type]
    try:
        parts = Sizes(19, 2, **(sizes or {})), Learning(**(learning or {})), Replay(sampler=sampler)  # type: ignore[arg-type]
        chosen = dataclasses.replace(Speed.best(jax.default_backend()), **(speed or {}))
    except TypeError as error:
        raise BadInput(f"an override names no field of the configuration: {error}") from error
    config = Config(*parts, training, chosen)
    stream = DefendStream(
        envs * population,
        seed=sampling_seed,
        timeouts=training.timeouts,
        population=population,
        threads=threads,
        conditions=names,
    )
    trainer = Trainer(config, stream, folder, quiet=quiet, watch=watch)
    resumed = trainer.step
    left = None if minutes is None else minutes * 60 - (time.monotonic() - BEGUN)
    result = trainer.run(stop_after_s=left)
    return {
        "folder": str(folder),
        "status": "finished" if result.finished else "stopped, run the same command to continue",
        "resumed_at": resumed,
        "step": result.step,
        "updates": result.updates,
        "trained_s": trainer.trained_s,
        "summary": result.summary,
        "teachers": [str(member.folder.root) for member in trainer.members],
        **runtime.device(),
    }


def print_checkpoint(row: Mapping[str, Any]) -> None:
    """One line about a validated checkpoint."""
    by = " ".join(f"{k}:{v:.3f}" for k, v in row["save_rate_by_length"].items())
    print(f"{row['step']:>9,} {row['mode']:<13} {row['save_rate']:.4f}  {by}", file=sys.stderr, flush=True)


def validate_teacher(
    folder: Path,
    *,
    split: str = "validation",
    minutes: float | None = None,
    threads: int | None = None,
    watch: Callable[[Mapping[str, Any]], None] = print_checkpoint,
    **more: Any,
) -> dict[str, Any]:
    """Evaluate every kept checkpoint not yet in the folder's table; writes `validation.json` and names the winner.

    It may be called again and again while the training goes on: where nothing is new, nothing is loaded or written.
    """
    from blindsave.learning.dreamer import runtime, validate
    from blindsave.store import read_json, write_json

    runtime.use_cache(Path(folder) / "cache")
    path = Path(folder) / f"{split}.json"
    known = read_json(path)["rows"] if path.exists() else []

    seconds = None if minutes is None else minutes * 60 - (time.monotonic() - BEGUN)
    rows = validate.validate(folder, split=split, threads=threads, seconds=seconds, known=known, report=watch, **more)
    winners = {mode: validate.select(rows, mode)["step"] for mode in {row["mode"] for row in rows}}  # type: ignore[arg-type]
    table = {"split": split, "rows": rows, "winner": winners}
    if rows != known:
        write_json(path, table)
    return table
