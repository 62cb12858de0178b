"""What is known of every stage: a small JSON file each, and whether what it names is still there, unharmed."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blindsave import store
from blindsave.engine import Output
from blindsave.errors import BadFile, BlindsaveError, Damaged

SCHEMA = "blindsave.stage.v1"
Mend = Callable[[Damaged], None]
"""Sets a damaged piece aside, or raises where that is not allowed."""


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
        self._write(stage, key, {"state": "running", "pid": os.getpid()})

    def advance(self, stage: str, key: str, done: int, of: int, running: Sequence[str]) -> None:
        """So many of a stage's tasks are done, and these are being done."""
        tasks = {"done": done, "of": of, "running": list(running)}
        self._write(stage, key, {"state": "running", "pid": os.getpid(), "tasks": tasks})

    def fail(self, stage: str, key: str, reason: str) -> None:
        """A stage could not be finished, and why."""
        self._write(stage, key, {"state": "failed", "reason": reason})

    def finish(self, stage: str, key: str, outputs: Sequence[Output], wall_s: float) -> dict[str, Any]:
        """A stage is done; hashes of its files are kept. What was made again must be what it was."""
        files = {self._name(path): store.sha256_file(path) for output in outputs for path in output.files}
        expected = self._expected(stage, key) or files
        for name in sorted(files.keys() | expected.keys()):
            if files.get(name) != expected.get(name):
                raise BadFile(f"{self.folder / name} was made again after damage and is not what it was")
        record = {
            "state": "done",
            "files": files,
            "artifacts": sorted({self._name(path) for output in outputs for path in output.artifacts}),
            "results": [dict(output.result) for output in outputs],
            "wall_s": round(wall_s, 2),
            "machine": store.machine(),
        }
        store.write_json(self.path(stage), {"schema": SCHEMA, "stage": stage, "key": key, **record})
        return record

    def verified(self, stage: str, key: str, mend: Mend) -> dict[str, Any] | None:
        """The record of a stage that is done for this key and whose outputs verify; None means there is work to do.

        A changed or lost output of a finished stage is damage. An artifact that can be made again is given to `mend`,
        and the stage has work to do; anything else is named and refused, never silently made again.
        """
        record = self.read(stage)
        if record is None or record["state"] != "done" or record["key"] != key:
            return None
        damages = self.damages(record)
        for damage in damages:
            mend(damage)
        if damages:
            self._write(stage, key, {"state": "failed", "reason": str(damages[0])}, record["files"])
            return None
        return record

    def damages(self, record: Mapping[str, Any]) -> list[Damaged]:
        """Damaged artifacts of a finished stage; a changed file that belongs to no damaged artifact is raised."""
        damages = []
        for name in record["artifacts"]:
            folder = self.folder / name
            stayed_elsewhere = folder.parent.name == "dataset" and not any(folder.glob("*.safetensors"))
            try:
                store.open_artifact(folder, verify=not stayed_elsewhere)
            except Damaged as damage:
                damages.append(damage)
        for name, sha256 in record["files"].items():
            path = self.folder / name
            if not any(path.is_relative_to(damage.piece) for damage in damages):
                self._verify(path, sha256)
        return damages

    def _verify(self, path: Path, sha256: str) -> None:
        if not path.is_file():
            raise BadFile(f"{path} is missing: it was made by a finished stage (restore it, or remove {self.folder})")
        if store.sha256_file(path) != sha256:
            raise BadFile(f"{path} was changed after its stage had finished (restore it, or remove {self.folder})")

    def _expected(self, stage: str, key: str) -> dict[str, str] | None:
        """Hashes of the files of a stage that was done before one of its artifacts was damaged."""
        record = self.read(stage)
        return record.get("expected") if record and record["key"] == key else None

    def _write(
        self, stage: str, key: str, record: Mapping[str, Any], expected: Mapping[str, str] | None = None
    ) -> None:
        known = expected or self._expected(stage, key)
        kept = {"expected": dict(known)} if known else {}
        store.write_json(self.path(stage), {"schema": SCHEMA, "stage": stage, "key": key, **record, **kept})

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
            for damage in records.damages(record):
                raise damage
            return {"stage": stage, "state": "done", "wall_s": record["wall_s"]}
        if record["state"] == "failed":
            return {"stage": stage, "state": "failed", "reason": record["reason"]}
        state = "running" if store.process_alive(record["pid"]) else "interrupted"
        return {"stage": stage, "state": state} | ({"tasks": record["tasks"]} if "tasks" in record else {})
    except (BlindsaveError, KeyError) as error:
        return {"stage": stage, "state": "damaged", "reason": str(error)}
