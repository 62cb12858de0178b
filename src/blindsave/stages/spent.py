"""What a study cost where it ran: wall time of every artifact, by kind of work and machine."""

from pathlib import Path
from typing import Any

from blindsave import store
from blindsave.errors import BlindsaveError


def spent(work: Path) -> list[dict[str, Any]]:
    """Seconds, pieces and episodes by kind of work, from the manifests of a work folder."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for path in sorted(work.glob("*/*/manifest.json")):
        try:
            manifest = store.open_artifact(path.parent, verify=False).manifest
        except BlindsaveError:
            continue
        machine = manifest["provenance"]["machine"]
        where = f"{machine['cpu']}, {machine['cores']} cores"
        kind = _kind(manifest["kind"], manifest["configuration"])
        row = rows.setdefault(
            (kind, where), {"work": kind, "machine": where, "pieces": 0, "episodes": 0, "wall_s": 0.0}
        )
        row["pieces"] += 1
        row["episodes"] += manifest["result"].get("episodes", 0)
        row["wall_s"] = round(row["wall_s"] + manifest["wall_s"], 3)
    return [rows[key] for key in sorted(rows)]


def _kind(kind: str, configuration: dict[str, Any]) -> str:
    if kind == "dataset":
        return "base episodes" if configuration["labels"].startswith("own") else "shadow episodes"
    if kind == "students":
        return f"{configuration['stage']}s, {configuration['family']}"
    if kind == "grid":
        return f"playing {configuration['grid']['split']}"
    return kind
