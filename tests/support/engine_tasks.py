"""Tasks for the tests of engines: they leave traces in the study's folder and misbehave on demand."""

import os
import signal
import time
from pathlib import Path

from blindsave import store
from blindsave.engine import Output, TaskEvent
from blindsave.errors import BadInput
from blindsave.progress import Progress
from blindsave.stages.site import Site

GONE_WITHIN_S = 60.0


def silent(event: TaskEvent) -> None:
    """Nobody listens."""


def gone(pid: int) -> bool:
    """Whether a process ends; waits for it."""
    limit = time.monotonic() + GONE_WITHIN_S
    while store.process_alive(pid) and time.monotonic() < limit:
        time.sleep(0.02)
    return not store.process_alive(pid)


def mark(site: Site, name: str) -> Path:
    """Leave a file with this process's number."""
    return store.write_whole(site.work / name, str(os.getpid()))


def wait_for(path: Path) -> None:
    """Wait for a file; a test's own limit ends a vain wait."""
    while not path.exists():
        time.sleep(0.01)


def add(site: Site, a: int, b: int) -> Output:
    with Progress("adding", 2) as bar:
        bar.advance(remark="half")
        bar.advance()
    return Output((mark(site, f"sum-{a}-{b}"),), result={"sum": a + b, "threads": site.threads, "pid": os.getpid()})


def after(site: Site, name: str, other: str) -> Output:
    """Ends only when another task has begun: the two must run at the same time."""
    mark(site, name)
    wait_for(site.work / other)
    return Output(result={"name": name})


def wait(site: Site, name: str) -> Output:
    """Reports progress until it may go on."""
    mark(site, f"waiting-{name}")
    with Progress("waiting", 1) as bar:
        while not (site.work / "go").exists():
            bar.at(0)
            time.sleep(0.1)
    return Output(result={"name": name})


def die(site: Site, name: str, times: int) -> Output:
    """Kills its worker the first few times, in the middle of something."""
    died = len(list(site.work.glob(f"{name}-death-*")))
    if died < times:
        mark(site, f"{name}-death-{died}")
        (site.work / f"{store.TEMPORARY}{os.getpid()}-0-half").mkdir()
        os.kill(os.getpid(), signal.SIGKILL)
    return Output(result={"deaths": died})


def block(site: Site, name: str) -> Output:
    """Works for ever, in the middle of an artifact."""

    def build(folder: Path) -> None:
        mark(site, name)
        wait_for(site.work / "never")

    store.make(site.work, "grid", {"name": name}, {}, build)
    return Output()


def refuse(site: Site, after: str) -> Output:
    wait_for(site.work / after)
    raise BadInput("this will never do")


def fail_once(site: Site, kind: str) -> Output:
    """The first time, an error of the operating system."""
    if not (site.work / "failed").exists():
        mark(site, "failed")
        raise OSError(getattr(os_errors(), kind), "as if")
    return Output(result={"ok": True})


def os_errors():
    import errno

    return errno


def bug(site: Site) -> Output:
    return Output(result={"x": 1 / 0})


def artifact(site: Site) -> Output:
    """A small artifact, the same every time."""

    def build(folder: Path) -> None:
        (folder / "data").write_text("whole")

    made = store.make(site.work, "grid", {"name": "piece"}, {}, build)
    return Output((made.path("data"),))


def loud(site: Site) -> Output:
    """Prints, as libraries do."""
    print("not an answer", flush=True)
    os.write(1, b"nor this\n")
    return Output(result={"ok": True})


def environment(site: Site) -> Output:
    return Output(result={"NPROC": os.environ.get("NPROC"), "pid": os.getpid(), "threads": site.threads})
