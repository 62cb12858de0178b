"""What is known of every stage: a small JSON file each, and whether what it names is still there, unharmed."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blindsave import store
from blindsave.engine import Output
from blindsave.errors import BadFile, BlindsaveError

SCHEMA = "blindsave.stage.v1"


@dataclass(frozen=True)
class Records:
    """The stage records of a study folder."""

    folder: Path

    def path(self, stage: str) -> Path:
        """Where a stage's record lies."""
        return self.folder / "stages" / f"{stage}.json"

    def read(self, stage: str) -> dict[str, Any] | None:
        """A stage's record; None where there is none."""
        if not self.path(stage).exists():
            return None
        found = store.read_json(self.path(stage))
        if not isinstance(found, dict) or found.get("schema") != SCHEMA:
            raise BadFile(f"{self.path(stage)} is not a stage record of schema {SCHEMA}")
        return found

    def begin(self, stage: str, key: str) -> None:
        """A stage is being worked on by this process."""
        self._write(stage, {"state": "running", "key": key, "pid": os.getpid()})

    def fail(self, stage: str, key: str, reason: str) -> None:
        """A stage could not be finished, and why."""
        self._write(stage, {"state": "failed", "key": key, "reason": reason})

    def finish(self, stage: str, key: str, outputs: Sequence[Output], wall_s: float) -> dict[str, Any]:
        """A stage is done; hashes of its files are kept."""
        files = {self._name(path): store.sha256_file(path) for output in outputs for path in output.files}
        artifacts = sorted({self._name(path) for output in outputs for path in output.artifacts})
        record = {
            "state": "done",
            "key": key,
            "files": files,
            "artifacts": artifacts,
            "results": [dict(output.result) for output in outputs],
            "wall_s": round(wall_s, 2),
            "machine": store.machine(),
        }
        self._write(stage, record)
        return record

    def verified(self, stage: str, key: str) -> dict[str, Any] | None:
        """The record of a stage that is done for this key and whose outputs verify; None means there is work to do.

        A changed or lost output of a finished stage is damage: it is named and refused, never silently made again.
        """
        record = self.read(stage)
        if record is None or record["state"] != "done" or record["key"] != key:
            return None
        self.verify(record)
        return record

    def verify(self, record: Mapping[str, Any]) -> None:
        """Check every file and artifact of a record; the first offender is named."""
        for name, sha256 in record["files"].items():
            path = self.folder / name
            if not path.is_file():
                raise BadFile(
                    f"{path} is missing: it was made by a finished stage (restore it, or remove {self.folder})"
                )
            if store.sha256_file(path) != sha256:
                raise BadFile(f"{path} was changed after its stage had finished (restore it, or remove {self.folder})")
        for name in record["artifacts"]:
            folder = self.folder / name
            stayed_elsewhere = folder.parent.name == "dataset" and not any(folder.glob("*.safetensors"))
            store.open_artifact(folder, verify=not stayed_elsewhere)

    def _write(self, stage: str, record: Mapping[str, Any]) -> None:
        store.write_json(self.path(stage), {"schema": SCHEMA, "stage": stage, **record})

    def _name(self, path: Path) -> str:
        return path.resolve().relative_to(self.folder.resolve()).as_posix()


def content(record: Mapping[str, Any]) -> str:
    """One hash of everything a stage made that later stages may depend on."""
    return store.digest(record["files"])


def state(records: Records, stage: str) -> dict[str, Any]:
    """`done`, `running`, `interrupted`, `failed`, `missing` or `damaged`, with what there is to say about it."""
    try:
        record = records.read(stage)
        if record is None:
            return {"stage": stage, "state": "missing"}
        if record["state"] == "done":
            records.verify(record)
            return {"stage": stage, "state": "done", "wall_s": record["wall_s"]}
        if record["state"] == "failed":
            return {"stage": stage, "state": "failed", "reason": record["reason"]}
        return {"stage": stage, "state": "running" if store.process_alive(record["pid"]) else "interrupted"}
    except (BlindsaveError, KeyError) as error:
        return {"stage": stage, "state": "damaged", "reason": str(error)}
