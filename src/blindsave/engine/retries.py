"""How often a task is tried again, and when that is enough."""

from collections import Counter

from blindsave.engine.perform import TransientError
from blindsave.engine.task import EventHandler, TaskEvent
from blindsave.errors import BlindsaveError

RETRIES = 3


class TaskLost(BlindsaveError):
    """A task failed again and again for reasons that were hoped to pass."""


class Retries:
    """Counts the mishaps of every task of a stage."""

    def __init__(self, tell: EventHandler) -> None:
        self.tell, self.seen = tell, Counter[str]()

    def after(self, key: str, mishap: TransientError) -> None:
        """Allow another attempt, and say why; raises when there have been enough."""
        self.seen[key] += 1
        if self.seen[key] > RETRIES:
            raise TaskLost(f"the task `{key}` failed {RETRIES + 1} times; the last time: {mishap}")
        count = f"attempt {self.seen[key] + 1} of {RETRIES + 1}"
        self.tell(TaskEvent("fault", key, remark=f"the task `{key}` is done again ({count}): {mishap}"))
