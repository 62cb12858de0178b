"""The append-only ledger: what was frozen and when the test was opened, as hash-chained JSON lines.

Every line carries the hash of the line before it, so no entry can be changed, removed or inserted without breaking
the chain that follows. A line torn by a crash has no newline and never counted: the next append replaces it.
"""

import contextlib
import datetime
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blindsave.errors import BadFile
from blindsave.store import canonical_json, digest, held, sync

START = "0" * 64


@dataclass(frozen=True)
class Entry:
    """One line of the ledger."""

    index: int
    kind: str
    time: str
    content: Mapping[str, Any]
    previous: str
    sha256: str

    def to_dict(self) -> dict[str, Any]:
        """The line as JSON values."""
        return dict(self.__dict__) | {"content": dict(self.content)}


class Ledger:
    """A ledger file; reading verifies the whole chain."""

    def __init__(self, path: str | Path):
        self.path = Path(path)

    def entries(self) -> list[Entry]:
        """Every entry, oldest first; a broken chain is refused with the number of the first bad line."""
        whole, _ = self._split()
        entries: list[Entry] = []
        for number, line in enumerate(whole, 1):
            entries.append(self._parse(line, number, entries[-1].sha256 if entries else START))
        return entries

    def last(self, kind: str) -> Entry | None:
        """The newest entry of a kind."""
        return next((entry for entry in reversed(self.entries()) if entry.kind == kind), None)

    def append(self, kind: str, content: Mapping[str, Any]) -> Entry:
        """Add an entry durably; the caller holds the lock."""
        entries = self.entries()
        body = {
            "index": len(entries),
            "kind": kind,
            "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "content": dict(content),
            "previous": entries[-1].sha256 if entries else START,
        }
        line = canonical_json(body | {"sha256": digest(body)}).encode("ascii") + b"\n"
        _, torn = self._split()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "ab") as file:
            file.truncate(file.tell() - len(torn))
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        sync(self.path.parent)
        return Entry(**body, sha256=digest(body))

    def lock(self) -> contextlib.AbstractContextManager[None]:
        """Hold the ledger alone."""
        return held(self.path.with_name(f".{self.path.name}.lock"), f"another process is writing to {self.path}")

    def _split(self) -> tuple[list[bytes], bytes]:
        """Whole lines, and what a crash may have left after the last newline."""
        content = self.path.read_bytes() if self.path.exists() else b""
        *whole, torn = content.split(b"\n")
        return whole, torn

    def _parse(self, line: bytes, number: int, previous: str) -> Entry:
        try:
            entry = Entry(**json.loads(line))
        except (ValueError, TypeError) as error:
            raise BadFile(f"{self.path} is damaged in line {number}") from error
        body = {key: value for key, value in entry.to_dict().items() if key != "sha256"}
        if digest(body) != entry.sha256 or entry.previous != previous or entry.index != number - 1:
            raise BadFile(f"{self.path} was changed in or before line {number}: the chain of hashes is broken")
        return entry
