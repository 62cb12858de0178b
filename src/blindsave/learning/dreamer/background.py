"""Writing files while training goes on: one piece of work at a time, in order, and no error is lost."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType


class Background:
    """Runs work on one thread. An error in it is raised by the next `wait` or `do`, at the latest on leaving."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1)
        self._pending: Future[None] | None = None

    def wait(self) -> None:
        """Return when nothing is left to do."""
        pending, self._pending = self._pending, None
        if pending:
            pending.result()

    def do(self, work: Callable[[], None]) -> None:
        """Begin `work`, once everything before it is done."""
        self.wait()
        self._pending = self._pool.submit(work)

    def __enter__(self) -> Background:
        """Be usable in a `with` statement."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        """Finish the work; an error in it does not hide one that is already on its way."""
        self._pool.shutdown()
        if error is None:
            self.wait()
