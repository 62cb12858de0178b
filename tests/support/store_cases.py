"""Things to put into a store, and ways to die while doing so."""

import os
from pathlib import Path

import pytest

from blindsave import store

CONFIGURATION = {"split": "validation", "lengths": [0, 5]}
INPUTS = {"policy": "ab" * 32}


class Crash(BaseException):
    """Stands for the process dying: nothing in the code under test may catch it as an error."""


def build(folder: Path) -> dict[str, int]:
    (folder / "data.bin").write_bytes(b"rows" * 100)
    (folder / "sub").mkdir()
    (folder / "sub" / "more.txt").write_text("more")
    return {"rows": 100}


def make(root: Path) -> store.Artifact:
    return store.make(root, "grid", CONFIGURATION, INPUTS, build)


def crash_at(monkeypatch: pytest.MonkeyPatch, nth: int) -> list[str]:
    """Let the nth call of any durable step raise `Crash`; returns the log of steps reached."""
    steps: list[str] = []

    def guarded(name: str, real):
        def step(*args, **kwargs):
            steps.append(name)
            if len(steps) == nth:
                raise Crash(name)
            return real(*args, **kwargs)

        return step

    for name in ("fsync", "replace", "rename"):
        monkeypatch.setattr(os, name, guarded(name, getattr(os, name)))
    return steps
