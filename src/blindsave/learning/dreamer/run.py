"""Train and validate the teacher from a plain command line: needs JAX, NumPy, safetensors and the arena, no more.

    python -m blindsave.learning.dreamer.run train --folder runs/teacher --minutes 9
    python -m blindsave.learning.dreamer.run train --folder runs/teachers --population 8
    python -m blindsave.learning.dreamer.run validate --folder runs/teacher
    python -m blindsave.learning.dreamer.run collect --folder runs/teacher --out OUT
    python -m blindsave.learning.dreamer.run bench --variants best,plain

`blindsave teacher ...` calls the same functions with nicer output.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from blindsave.errors import BadInput, BlindsaveError

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
    `watch` is shown every line of metrics.
    """
    import jax

    from blindsave.learning.dreamer import runtime
    from blindsave.learning.dreamer.config import Config, Learning, Replay, Sizes, Speed, Training
    from blindsave.learning.dreamer.defend_stream import DefendStream
    from blindsave.learning.dreamer.trainer import Trainer

    runtime.use_cache(Path(folder) / "cache")
    kept = (checkpoint_every, log_every, latents)
    training = Training(steps, envs, train_ratio, seed, *kept, timeouts, population)  # type: ignore[arg-type]
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


def main(arguments: Sequence[str] | None = None) -> None:
    """Parse and run one command; prints one JSON object."""
    parser = argparse.ArgumentParser(prog="blindsave.learning.dreamer.run")
    commands = parser.add_subparsers(dest="command", required=True)
    train = commands.add_parser("train")
    train.add_argument("--steps", type=int, default=1_000_000)
    train.add_argument("--envs", type=int, default=32)
    train.add_argument("--train-ratio", type=int, default=80)
    train.add_argument("--seed", type=int, default=7303)
    train.add_argument("--timeouts", default="truncate", choices=("truncate", "terminate"))
    train.add_argument("--checkpoint-every", type=int, default=20_000)
    train.add_argument("--log-every", type=int, default=2_000)
    train.add_argument("--sampler", default="uniform", choices=("uniform", "mixture"))
    train.add_argument("--latents", default="on_stop", choices=("on_stop", "always", "never"))
    for part in ("sizes", "learning", "speed"):
        train.add_argument(f"--{part}", type=json.loads, default={}, help='JSON overrides, such as {"unroll": 8}')
    check = commands.add_parser("validate")
    check.add_argument("--split", default="validation")
    check.add_argument("--modes", type=lambda s: tuple(s.split(",")), default=("deterministic", "sampled"))
    check.add_argument("--steps", type=lambda s: [int(x) for x in s.split(",")], default=None)
    bundle = commands.add_parser("pack")
    bundle.add_argument("--out", type=Path, required=True)
    bundle.add_argument("--steps", type=lambda s: [int(x) for x in s.split(",")], default=None)
    gather = commands.add_parser("collect")
    gather.add_argument("--out", type=Path, required=True)
    gather.add_argument("--top", type=int, default=20)
    for command in (train, check, bundle, gather):
        command.add_argument("--folder", type=Path, required=True)
    for command in (train, check):
        command.add_argument("--minutes", type=float, default=None)
        command.add_argument("--threads", type=int, default=None)
    speed = commands.add_parser("bench")
    speed.add_argument("--variants", type=lambda s: s.split(","), default=["best", "plain"])
    speed.add_argument("--envs", type=int, default=32)
    speed.add_argument("--speed", type=json.loads, default={}, help='JSON overrides, such as {"unroll": 8}')
    speed.add_argument("--stored", type=int, default=100_000)
    speed.add_argument("--cache", type=Path, default=None, help="share compiled programs with a run: FOLDER/cache")
    speed.add_argument("--per-call", type=int, default=10)
    speed.add_argument("--rounds", type=int, default=5)
    for command in (train, speed):
        command.add_argument("--population", type=int, default=1, help="how many teachers side by side")
    options = vars(parser.parse_args(arguments))
    try:
        print(json.dumps(run(options.pop("command"), options), allow_nan=False))
    except BlindsaveError as error:
        sys.exit(f"blindsave: {error}")


def run(command: str, options: dict[str, Any]) -> dict[str, Any]:
    """Dispatch one command."""
    if command == "train":
        return train_teacher(**options)
    if command == "validate":
        return validate_teacher(**options)
    if command in ("pack", "collect"):
        from blindsave.learning.dreamer import pack

        return {"files": [str(path) for path in getattr(pack, command)(**options)]}
    from blindsave.bench.teacher import bench
    from blindsave.learning.dreamer.runtime import use_cache

    cache = options.pop("cache")
    if cache:
        use_cache(cache)
    return bench(**options, report=lambda line: print(line, file=sys.stderr, flush=True))


if __name__ == "__main__":
    main()
