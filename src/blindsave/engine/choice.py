"""Choose an engine by its name."""

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType

from blindsave.engine.in_process import InProcess
from blindsave.engine.machine import cores
from blindsave.engine.task import Engine
from blindsave.engine.workers import Workers
from blindsave.errors import BadInput

ENGINES = ("here", "workers", "ray")
TERMINATED = 128 + signal.SIGTERM


@contextlib.contextmanager
def open_engine(name: str | None = None, workers: int | None = None, address: str | None = None) -> Iterator[Engine]:
    """The engine of a name, for as long as it is needed; without a name, local workers where there are cores for two.

    SIGTERM, which schedulers send before they kill, ends the engine in order, as Ctrl-C does.
    """
    chosen = name or ("workers" if (workers or cores()) > 1 else "here")
    if address is not None and chosen != "ray":
        raise BadInput("an address is for Ray: say `--engine ray`")
    with _engine(chosen, workers, address) as engine, _terminable():  # in this order: Ray handles signals, too
        yield engine


def _engine(name: str, workers: int | None, address: str | None) -> contextlib.AbstractContextManager[Engine]:
    if name == "here":
        if workers not in (None, 1):
            raise BadInput("the engine `here` is one process: `--workers` is for `workers` and `ray`")
        return contextlib.nullcontext(InProcess())
    if name == "workers":
        return Workers(workers)
    if name == "ray":
        from blindsave.engine.ray_engine import RayEngine

        return RayEngine(address, workers)
    raise BadInput(f"there is no engine `{name}`; engines: {', '.join(ENGINES)}")


@contextlib.contextmanager
def _terminable() -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        sys.exit(TERMINATED)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
