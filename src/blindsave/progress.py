"""Progress on standard error: a bar on a terminal, an occasional line elsewhere; or told to whoever listens."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

LINE_EVERY_S = 15.0
Listener = Callable[[int, int, str], None]
"""Is told how much is done, of how much, and a remark."""

_listener: Listener | None = None


@contextlib.contextmanager
def redirect_progress(listener: Listener) -> Iterator[None]:
    """Every counter of this process speaks to the listener instead of standard error."""
    global _listener
    before, _listener = _listener, listener
    try:
        yield
    finally:
        _listener = before


class Progress:
    """A counter of known total with a title and a changing remark; use it as a context manager."""

    def __init__(self, title: str, total: int, *, quiet: bool = False) -> None:
        self.title, self.total = title, total
        self._listener = _listener
        self.quiet = quiet or self._listener is not None
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
        if self._listener is not None:
            self._listener(done, self.total, self.remark)
        elif self._bar is not None:
            self._bar.update(self._task, completed=done, remark=self.remark)
        elif not self.quiet and time.monotonic() - self.said > LINE_EVERY_S:
            self._say()

    def note(self, line: str) -> None:
        """Say something that stays, above the bar if there is one."""
        if self._bar is not None:
            self._bar.console.print(line, markup=False, highlight=False, soft_wrap=True)
        else:
            print(line, file=sys.stderr, flush=True)

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
