"""What a study ends with must not depend on how it ran: killed again and again, or spread over other processes."""

import random
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from blindsave import store
from blindsave.errors import BlindsaveError
from blindsave.stages.reporting import DATED

Tell = Callable[[str], None]
STUDY = [sys.executable, "-m", "blindsave", "study"]


def comparable(folder: Path) -> dict[str, str]:
    """SHA-256 of everything that must not depend on when and where: episode tables, policies, plan, report tables."""
    found = [*folder.glob("results/**/*.parquet"), *folder.glob("models/**/*.safetensors"), folder / "protocol.toml"]
    found += [path for path in folder.glob("results/report/tables/*") if path.stem not in DATED]
    return {path.relative_to(folder).as_posix(): store.sha256_file(path) for path in sorted(found)}


def kill_and_compare(home: Path, words: list[str], kills: int, seed: int, tell: Tell) -> dict[str, Any]:
    """Run `study WORDS` in home/whole undisturbed and in home/killed with SIGKILLs at random moments; compare both."""
    whole, broken, rng = home / "whole", home / "killed", random.Random(seed)
    tell("the undisturbed study")
    _wait(_start(words, whole))
    undisturbed_s = sum(record.get("wall_s", 0.0) for record in _records(whole))
    moments = []
    for number in range(kills):
        process, patience = _start(words, broken), rng.uniform(0.1, 1.3) * undisturbed_s / (kills + 1)
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            moments.append({"after_s": round(patience, 1), "stages_done": _done(broken)})
            tell(f"kill {number + 1} of {kills}, {patience:.0f} s after its start, {moments[-1]['stages_done']} done")
        else:
            _check(process)  # it came to its end before it could be killed
            break
    _wait(_start(words, broken))
    return {
        "kills": len(moments),
        "asked_for": kills,
        "moments": moments,
        "undisturbed_s": round(undisturbed_s, 1),
        **_compare(whole, broken),
    }


def engines_and_compare(home: Path, words: list[str], engines: Sequence[list[str]], tell: Tell) -> dict[str, Any]:
    """Run `study WORDS` once per engine (given by the words that choose it) and compare each with the first."""
    folders, runs = [home / "-".join(word.strip("-") for word in engine) for engine in engines], []
    for engine, folder in zip(engines, folders, strict=True):
        tell(" ".join(engine))
        _wait(_start([*words, *engine], folder))
        wall_s = round(sum(record.get("wall_s", 0.0) for record in _records(folder)), 1)
        runs.append({"engine": " ".join(engine), "wall_s": wall_s, **_compare(folders[0], folder)})
    return {"runs": runs, "equal": all(run["equal"] for run in runs)}


def _compare(whole: Path, other: Path) -> dict[str, Any]:
    expected, found = comparable(whole), comparable(other)
    names = sorted(expected.keys() | found.keys())
    different = [name for name in names if expected.get(name) != found.get(name)]
    return {"files_compared": len(names), "different": different, "equal": not different and bool(names)}


def _start(words: list[str], folder: Path) -> subprocess.Popen[bytes]:
    command = [*STUDY, *words, "--folder", str(folder), "--json"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _wait(process: subprocess.Popen[bytes]) -> None:
    process.wait()
    _check(process)


def _check(process: subprocess.Popen[bytes]) -> None:
    if process.returncode:
        command = " ".join(map(str, process.args)) if isinstance(process.args, list) else process.args
        raise BlindsaveError(f"`{command}` ended with status {process.returncode}; run it by hand to see why")


def _done(folder: Path) -> int:
    return sum(record.get("state") == "done" for record in _records(folder))


def _records(folder: Path) -> list[dict[str, Any]]:
    return [store.read_json(path) for path in sorted(folder.glob("stages/*.json"))]
