"""The simplest engine: one task after another, in this process."""

import os
from collections.abc import Sequence
from typing import Any

from blindsave.engine.perform import TransientError, may_pass, perform
from blindsave.engine.retries import Retries
from blindsave.engine.task import EventHandler, Output, Task, TaskEvent
from blindsave.engine.workers import Workers


class InProcess:
    """One task after another, here; simulation uses all cores by itself."""

    def run(self, place: Any, tasks: Sequence[Task[Any]], tell: EventHandler) -> list[Output]:
        """Do all the tasks in order."""
        return [_alone(place, task, tell) if task.exclusive else _attempts(place, task, tell) for task in tasks]


def _attempts(place: Any, task: Task[Any], tell: EventHandler) -> Output:
    retries = Retries(tell)
    while True:
        tell(TaskEvent("begun", task.key, pid=os.getpid()))
        try:
            output = perform(place, task, tell)
        except Exception as error:
            if not may_pass(error):
                raise
            retries.after(task.key, TransientError(f"{type(error).__name__}: {error}"))
        else:
            tell(TaskEvent("ended", task.key))
            return output


def _alone(place: Any, task: Task[Any], tell: EventHandler) -> Output:
    with Workers(1) as workers:
        return workers.run(place, [task], tell)[0]
