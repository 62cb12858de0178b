"""What a run came to, from the files it left: how long, how fast, and which checkpoint was selected."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

from blindsave.errors import BadFile
from blindsave.learning.dreamer import metrics, validate
from blindsave.store import read_json


def summarise_run(folder: Path) -> dict[str, Any]:
    """Read metrics.jsonl and validation.json of a run."""
    folder = Path(folder)
    if not (folder / "metrics.jsonl").exists():
        raise BadFile(f"{folder} holds no run: there is no metrics.jsonl")
    lines = metrics.read(folder / "metrics.jsonl")
    if not lines:
        raise BadFile(f"the run in {folder} has not said anything yet: its metrics.jsonl holds no line")
    learning = [line for line in lines if line.get("updates_per_s", 0) > 0]
    result: dict[str, Any] = {
        "folder": str(folder),
        "steps": lines[-1]["step"],
        "updates": lines[-1]["updates"],
        "minutes": lines[-1]["time_s"] / 60,
        "updates_per_s_median": median(line["updates_per_s"] for line in learning) if learning else 0.0,
        "steps_per_s_median": median(line["steps_per_s"] for line in lines),
        "save_rate_while_training": lines[-1].get("saved"),
    }
    if (folder / "validation.json").exists():
        rows = read_json(folder / "validation.json")["rows"]
        chosen = validate.select(rows, "sampled")
        same = [row for row in rows if row["step"] == chosen["step"]]
        result |= {
            "checkpoints": len({row["step"] for row in rows}),
            "selected": chosen["step"],
            "validation": {row["mode"]: {"all": row["save_rate"], **_in_order(row)} for row in same},
        }
    return result


def _in_order(row: dict[str, Any]) -> dict[str, float]:
    """Save rates by blackout length, shortest first (JSON sorts the lengths as texts)."""
    rates = row["save_rate_by_length"]
    return {length: rates[length] for length in sorted(rates, key=int)}
