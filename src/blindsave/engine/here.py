"""The simplest engine: one task after another, in this process."""

import os
from collections.abc import Sequence
from typing import Any

from blindsave.engine.perform import Mishap, may_pass, perform
from blindsave.engine.retries import Retries
from blindsave.engine.task import News, Output, Task, Tell
from blindsave.engine.workers import Workers


class Here:
    """One task after another, here; simulation uses all cores by itself."""

    def run(self, place: Any, tasks: Sequence[Task[Any]], tell: Tell) -> list[Output]:
        """Do all the tasks in order."""
        return [_apart(place, task, tell) if task.apart else _attempts(place, task, tell) for task in tasks]


def _attempts(place: Any, task: Task[Any], tell: Tell) -> Output:
    retries = Retries(tell)
    while True:
        tell(News("begun", task.key, pid=os.getpid()))
        try:
            output = perform(place, task, tell)
        except Exception as error:
            if not may_pass(error):
                raise
            retries.after(task.key, Mishap(f"{type(error).__name__}: {error}"))
        else:
            tell(News("ended", task.key))
            return output


def _apart(place: Any, task: Task[Any], tell: Tell) -> Output:
    with Workers(1) as workers:
        return workers.run(place, [task], tell)[0]
