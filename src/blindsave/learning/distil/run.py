"""Distil all families from a plain command line: needs JAX, NumPy, safetensors and the arena, no more.

    python -m blindsave.learning.distil.run students --work runs/students --minutes 9 --parallel 3
    python -m blindsave.learning.distil.run pack --work runs/students --out students.tar
    python -m blindsave.learning.distil.run unpack --pack students.tar --work runs/students
    python -m blindsave.learning.distil.run ship --work runs/students --models models
    python -m blindsave.learning.distil.run bench

`students` continues where an earlier call stopped; it ends with status 3 when its minutes are over before its work.
`blindsave distil ...` calls the same functions with nicer output.
"""

import argparse
import dataclasses
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from blindsave import store
from blindsave.errors import BadInput, BlindsaveError
from blindsave.policies.catalog import load_file, models_folder
from blindsave.policies.students.registry import PAPER_FAMILIES, family

BEGUN = time.monotonic()
UNFINISHED = 3
BASE_ONLY = "base"


def distil_students(
    work: Path,
    *,
    teacher: Path | None = None,
    families: Sequence[str] = PAPER_FAMILIES,
    minutes: float | None = None,
    threads: int | None = None,
    parallel: int = 1,
    quiet: bool = False,
    execution: dict[str, Any] | None = None,
    **scale: Any,
) -> dict[str, Any]:
    """Run both stages of the families (or only the base data for ["base"]); `minutes` counts from process start."""
    for name in families:
        if name != BASE_ONLY:
            family(name)
    if parallel > 1 and len(families) > 1:
        return _in_parallel(work, teacher, families, minutes, threads, parallel, execution, scale)
    deadline = None if minutes is None else BEGUN + 60 * minutes
    options = {"threads": threads, "deadline": deadline, "quiet": quiet, "execution": execution or {}}
    pipeline = open_pipeline(work, teacher, make_scale(**scale), **options)
    if list(families) == [BASE_ONLY]:
        return {"base": pipeline.base().artifact.manifest["result"]}
    return {"work": str(work), "families": {name: pipeline.run(name) for name in families}}


def open_pipeline(work: Path, teacher: Path | None, scale: Any, **options: Any) -> Any:
    """The pipeline of a teacher file in a work folder, with a compilation cache."""
    from blindsave.learning.distil.pipeline import Pipeline
    from blindsave.learning.dreamer.runtime import use_cache

    use_cache(work / "cache")
    path = teacher_file(teacher)
    policy: Any = load_file(path)
    if not hasattr(policy, "with_previous_action"):
        raise BadInput(f"{path} is no teacher: it has no previous-action slot to overwrite")
    return Pipeline(work, policy, store.sha256_file(path), scale, **options)


def teacher_file(path: Path | None) -> Path:
    """The given teacher file, or the shipped one."""
    return path or models_folder() / "teacher" / "teacher.safetensors"


def make_scale(
    base_episodes: int | None = None,
    shadow_episodes: int | None = None,
    epochs: int | None = None,
    seeds: Sequence[int] | None = None,
) -> Any:
    """The study's scale with the given changes."""
    from blindsave.learning.distil.pipeline import Scale

    given = {"base_episodes": base_episodes, "shadow_episodes": shadow_episodes}
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if seeds:
        changes["seeds"] = tuple(seeds)
    if epochs is not None:
        changes["recipe"] = dataclasses.replace(Scale().recipe, epochs=epochs)
    return dataclasses.replace(Scale(), **changes)


def _in_parallel(
    work: Path,
    teacher: Path | None,
    families: Sequence[str],
    minutes: float | None,
    threads: int | None,
    parallel: int,
    execution: dict[str, Any] | None,
    scale: dict[str, Any],
) -> dict[str, Any]:
    """One process per family, a few at a time: one compiles or simulates while another trains."""
    command = [sys.executable, "-m", "blindsave.learning.distil.run", "students", "--work", str(work)]
    command += [] if teacher is None else ["--teacher", str(teacher)]
    command += ["--execution", json.dumps(execution)] if execution else []
    each = threads or max(1, (os.cpu_count() or 1) // parallel)
    for name, value in scale.items():
        if value is not None:
            text = ",".join(map(str, value)) if name == "seeds" else str(value)
            command += [f"--{name.replace('_', '-')}", text]
    environment = os.environ | {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}

    def start(name: str, threads: int) -> subprocess.Popen[bytes]:
        left = [] if minutes is None else ["--minutes", str(minutes - (time.monotonic() - BEGUN) / 60)]
        arguments = [*command, "--families", name, "--threads", str(threads), *left]
        return subprocess.Popen(arguments, env=environment, stdout=subprocess.DEVNULL)

    codes = [start(BASE_ONLY, threads or os.cpu_count() or 1).wait()]  # made once, before anyone needs it
    waiting, running = list(families) if codes == [0] else [], []
    while waiting or running:
        while waiting and len(running) < parallel:
            running.append(start(waiting.pop(0), each))
        time.sleep(0.2)
        codes += [process.returncode for process in running if process.poll() is not None]
        running = [process for process in running if process.returncode is None]
    if any(code not in (0, UNFINISHED) for code in codes):
        raise BlindsaveError("a family could not be distilled; see its message above")
    found = {name: work / "summary" / f"{name}.json" for name in families}
    done = {name: store.read_json(path) for name, path in found.items() if path.exists()}
    if UNFINISHED in codes:
        from blindsave.learning.distil.deadline import OutOfTime

        raise OutOfTime(f"{len(done)} of {len(families)} families are done; run the same command again")
    return {"work": str(work), "families": done}


def main(arguments: Sequence[str] | None = None) -> None:
    """Parse and run one command; prints one JSON object."""
    from blindsave.learning.distil.deadline import OutOfTime

    options = vars(_parser().parse_args(arguments))
    try:
        print(json.dumps(_run(options.pop("command"), options), allow_nan=False))
    except OutOfTime as error:
        print(f"blindsave: {error}", file=sys.stderr)
        sys.exit(UNFINISHED)
    except BlindsaveError as error:
        print(f"blindsave: {error}", file=sys.stderr)
        sys.exit(2)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="blindsave.learning.distil.run")
    commands = parser.add_subparsers(dest="command", required=True)
    students = commands.add_parser("students")
    students.add_argument("--teacher", type=Path, default=None)
    students.add_argument("--families", type=lambda s: s.split(","), default=list(PAPER_FAMILIES))
    students.add_argument("--seeds", type=lambda s: [int(x) for x in s.split(",")], default=None)
    for name in ("base-episodes", "shadow-episodes", "epochs", "threads"):
        students.add_argument(f"--{name}", type=int, default=None)
    students.add_argument("--parallel", type=int, default=1)
    students.add_argument("--minutes", type=float, default=None)
    students.add_argument("--execution", type=json.loads, default={}, help='JSON changes, such as {"unroll": 4}')
    pack = commands.add_parser("pack")
    pack.add_argument("--out", type=Path, required=True)
    unpack = commands.add_parser("unpack")
    unpack.add_argument("--pack", type=Path, required=True)
    ship = commands.add_parser("ship")
    ship.add_argument("--models", type=Path, default=None)
    for command in (students, pack, unpack, ship):
        command.add_argument("--work", type=Path, required=True)
    bench = commands.add_parser("bench")
    bench.add_argument("--families", type=lambda s: s.split(","), default=None)
    bench.add_argument("--rounds", type=int, default=3)
    bench.add_argument("--episodes", type=int, default=None)
    bench.add_argument("--execution", type=json.loads, default={}, help='JSON changes, such as {"unroll": 4}')
    bench.add_argument("--alone", dest="compared", action="store_false", help="no PyTorch, no other trainer")
    bench.add_argument("--no-collection", dest="collection", action="store_false")
    return parser


def _run(command: str, options: dict[str, Any]) -> dict[str, Any]:
    if command == "students":
        return distil_students(**options)
    if command == "bench":
        from blindsave.bench.students import bench

        chosen = {name: value for name, value in options.items() if value is not None}
        return bench(**chosen, report=lambda line: print(line, file=sys.stderr, flush=True))
    from blindsave.learning.distil import packing

    return {"files": [str(path) for path in getattr(packing, command)(**options)]}


if __name__ == "__main__":
    main()
