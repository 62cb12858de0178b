"""What a study survived: one line per fault in stages/faults.jsonl."""

import contextlib
import datetime
import json
from pathlib import Path
from typing import Any

from blindsave.store import canonical_json


def path(folder: Path) -> Path:
    """Where a study's faults are kept."""
    return folder / "stages" / "faults.jsonl"


def keep(folder: Path, stage: str, task: str, sentence: str) -> None:
    """Add a fault. The disk may be full: then the run has said it on standard error, and that must do."""
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    line = canonical_json({"time": now, "stage": stage, "task": task, "what": sentence})
    with contextlib.suppress(OSError), open(path(folder), "a", encoding="ascii") as file:
        file.write(line + "\n")


def read_faults(folder: Path) -> list[dict[str, Any]]:
    """Every fault, oldest first; a line torn by a crash does not count."""
    found = []
    for line in path(folder).read_text("ascii").splitlines() if path(folder).is_file() else ():
        with contextlib.suppress(ValueError):
            found.append(json.loads(line))
    return found
