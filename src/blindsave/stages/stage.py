"""A stage of the study, and how it is performed."""

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from blindsave import store
from blindsave.engine import Dispatch, Engine, Output, Task
from blindsave.engine.repair import with_repair
from blindsave.errors import DiskFull
from blindsave.progress import redirect_progress
from blindsave.stages.estimate import core_seconds
from blindsave.stages.monitor import StageMonitor
from blindsave.stages.scales import Scale
from blindsave.stages.site import Site


@dataclass(frozen=True)
class Stage:
    """One step of the method."""

    name: str
    method: str
    """What is done, and why."""
    tasks: Callable[[Scale], list[Task[Site]]]
    """Its pieces of work, known before it begins."""
    make: Callable[[Site, Dispatch[Site]], list[Output]] | None = None
    """Prepares, spreads tasks over the engine and gathers what they made; None just spreads them."""
    given: Callable[[Site], Any] | None = None
    """What decides it besides the scale and the stages before it."""
    here: bool = False
    """Whether it is done in this process: too small to travel, or statistics."""


def perform(site: Site, stage: Stage, monitor: StageMonitor, engine: Engine) -> dict[str, Any]:
    """Do a stage and write its record; a failure is recorded with its reason."""

    def dispatch(tasks: Sequence[Task[Site]]) -> list[Output]:
        # The longest first, so that none is still running when all others are done.
        order = sorted(range(len(tasks)), key=lambda number: -_guess(tasks[number]))
        found = dict(zip(order, engine.run(site, [tasks[number] for number in order], monitor.tell), strict=True))
        return [found[number] for number in range(len(tasks))]

    def make() -> list[Output]:
        return stage.make(site, dispatch) if stage.make else dispatch(stage.tasks(site.scale))

    started = time.perf_counter()
    try:
        # What is gathered here has no bar of its own: there is one per stage.
        with store.needs_room(site.folder), monitor, redirect_progress(lambda _done, _total, _remark: None):
            monitor.records.begin(stage.name, monitor.key)
            outputs = with_repair(site, make, lambda sentence: monitor.fault(stage.name, sentence))
            return monitor.records.finish(stage.name, monitor.key, outputs, time.perf_counter() - started)
    except Exception as error:
        with contextlib.suppress(DiskFull):
            monitor.records.fail(stage.name, monitor.key, str(error) or type(error).__name__)
        raise


def _guess(task: Task[Site]) -> float:
    """Expected seconds of one core."""
    return sum(core_seconds(unit, amount) for unit, amount in task.cost.items())
