"""Die in the middle of writing: at the nth time that a file is synced or renamed."""

import os
from collections.abc import Callable

import pytest

from blindsave.evidence import ledger
from blindsave.store import artifacts, writing


class Crash(BaseException):
    """Stands for the process dying."""


def crash_at(patch: pytest.MonkeyPatch, nth: int, die: Callable[[], object] | None = None) -> None:
    """Die at the nth sync or rename of the store and the ledger: really, or by raising `Crash`."""
    count = 0

    def guarded(real):
        def step(*args, **kwargs):
            nonlocal count
            count += 1
            if count == nth:
                if die is not None:
                    die()
                raise Crash
            return real(*args, **kwargs)

        return step

    # `os` is one module: patching it here reaches the store and the ledger alike.
    assert writing.os is artifacts.os is ledger.os is os
    for name in ("fsync", "replace", "rename"):
        patch.setattr(os, name, guarded(getattr(os, name)))
