"""A stage of the study, and how it is performed."""

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from blindsave import store
from blindsave.engine import Engine, Output, Spread, Task
from blindsave.engine.damage import mending
from blindsave.errors import DiskFull
from blindsave.progress import told_to
from blindsave.stages.estimate import core_seconds
from blindsave.stages.scales import Scale
from blindsave.stages.site import Site
from blindsave.stages.watch import Watch


@dataclass(frozen=True)
class Stage:
    """One step of the method."""

    name: str
    method: str
    """What is done, and why."""
    tasks: Callable[[Scale], list[Task[Site]]]
    """Its pieces of work, known before it begins."""
    make: Callable[[Site, Spread[Site]], list[Output]] | None = None
    """Prepares, spreads tasks over the engine and gathers what they made; None just spreads them."""
    given: Callable[[Site], Any] | None = None
    """What decides it besides the scale and the stages before it."""
    here: bool = False
    """Whether it is done in this process: too small to travel, or statistics."""


def perform(site: Site, stage: Stage, watch: Watch, engine: Engine) -> dict[str, Any]:
    """Do a stage and write its record; a failure is recorded with its reason."""

    def spread(tasks: Sequence[Task[Site]]) -> list[Output]:
        # The longest first, so that none is still running when all others are done.
        order = sorted(range(len(tasks)), key=lambda number: -_guess(tasks[number]))
        found = dict(zip(order, engine.run(site, [tasks[number] for number in order], watch.tell), strict=True))
        return [found[number] for number in range(len(tasks))]

    def make() -> list[Output]:
        return stage.make(site, spread) if stage.make else spread(stage.tasks(site.scale))

    started = time.perf_counter()
    try:
        # What is gathered here has no bar of its own: there is one per stage.
        with store.needs_room(site.folder), watch, told_to(lambda _done, _total, _remark: None):
            watch.records.begin(stage.name, watch.key)
            outputs = mending(site, make, lambda sentence: watch.fault(stage.name, sentence))
            return watch.records.finish(stage.name, watch.key, outputs, time.perf_counter() - started)
    except Exception as error:
        with contextlib.suppress(DiskFull):
            watch.records.fail(stage.name, watch.key, str(error) or type(error).__name__)
        raise


def _guess(task: Task[Site]) -> float:
    """Expected seconds of one core."""
    return sum(core_seconds(unit, amount) for unit, amount in task.cost.items())
