"""The reference cores at the benchmark's own budget: shipped figures, one file, made by the command itself."""

from pathlib import Path
from typing import Any

from blindsave import store
from blindsave.benchmark.budget import Budget
from blindsave.benchmark.trials import TEACHER_SHA256
from blindsave.errors import BadFile
from blindsave.verify.places import brought

SCHEMA = "blindsave.benchmark.v1"
CLASSICAL = ("planner", "bayes", "kalman_gated", "kalman", "least_squares", "differences")
"""Policies that were never trained; the planner is told the truth."""


def file() -> Path:
    """Where the shipped references lie."""
    return brought() / "results" / "remember" / "references.json"


def document(budget: Budget, cores: list[dict[str, Any]]) -> dict[str, Any]:
    """Figures of some cores with all that decides them besides the core."""
    return {"schema": SCHEMA, "budget": budget.describe(), "teacher_sha256": TEACHER_SHA256, "cores": cores}


def read(path: Path, budget: Budget) -> list[dict[str, Any]]:
    """The cores of a file made with this budget; none where there is no file. Another budget is a `BadFile`."""
    if not path.is_file():
        return []
    found = store.read_json(path)
    wanted = document(budget, [])
    for name in ("schema", "budget", "teacher_sha256"):
        if not isinstance(found, dict) or found.get(name) != wanted[name]:
            raise BadFile(f"{path} holds figures of another benchmark: its `{name}` is not that of this one")
    return list(found["cores"])


def write(path: Path, budget: Budget, cores: list[dict[str, Any]]) -> Path:
    """Write figures as a file that `read` takes; equal figures give equal bytes."""
    return store.write_json(path, document(budget, cores))


def merged(known: list[dict[str, Any]], new: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Cores of both, the new ones in place of those of the same name."""
    found = {one["core"]: one for one in known} | {one["core"]: one for one in new}
    return list(found.values())
