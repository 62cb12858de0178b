"""Progress on standard error: a bar on a terminal, an occasional line elsewhere."""

import sys
import time
from types import TracebackType
from typing import Any

LINE_EVERY_S = 15.0


class Progress:
    """A counter of known total with a title and a changing remark; use it as a context manager."""

    def __init__(self, title: str, total: int, *, quiet: bool = False) -> None:
        self.title, self.total, self.quiet = title, total, quiet
        self.done, self.remark, self.said = 0, "", time.monotonic()
        self._bar: Any = None

    def __enter__(self) -> "Progress":
        if not self.quiet and sys.stderr.isatty():
            self._bar = _rich_bar()
        if self._bar is not None:
            self._bar.start()
            self._task = self._bar.add_task(self.title, total=self.total, remark="")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        elif not self.quiet and kind is None and self.done:
            self._say()

    def advance(self, count: int = 1, remark: str | None = None) -> None:
        """Count on."""
        self.at(self.done + count, remark)

    def at(self, done: int, remark: str | None = None) -> None:
        """Say how far it is."""
        self.done, self.remark = done, self.remark if remark is None else remark
        if self._bar is not None:
            self._bar.update(self._task, completed=done, remark=self.remark)
        elif not self.quiet and time.monotonic() - self.said > LINE_EVERY_S:
            self._say()

    def _say(self) -> None:
        self.said = time.monotonic()
        print(f"{self.title}: {self.done} of {self.total} {self.remark}".rstrip(), file=sys.stderr, flush=True)


def _rich_bar() -> Any:
    """A rich progress bar, or None where rich is not installed (a bare training machine)."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar
    except ModuleNotFoundError:
        return None
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Bar(*columns, TextColumn("{task.fields[remark]}"), console=Console(stderr=True))
