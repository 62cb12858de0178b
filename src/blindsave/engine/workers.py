"""Local workers: one process per core, each doing one task at a time. A worker that dies is replaced.

Workers speak JSON lines over pipes (`blindsave.worker`). They are started when they are first needed and kept from
stage to stage. When this process ends in whatever way, their standard input ends, and they end too. The pool of
`concurrent.futures` was tried and does not fit: when one process dies it gives up every running task, not only that
one's, and when the coordinator is killed its workers go on.
"""

import queue
from collections import deque
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from blindsave.engine.machine import TRAININGS_PER_GPU, cores, gpus
from blindsave.engine.perform import TransientError, restore
from blindsave.engine.retries import Retries
from blindsave.engine.task import EventHandler, Output, Place, Task, TaskEvent, describe_place
from blindsave.engine.worker import Inbox, Worker
from blindsave.errors import BadInput
from blindsave.store import sweep_process


class Workers:
    """An engine of local processes; use it as a context manager, so that none is left behind."""

    def __init__(self, count: int | None = None) -> None:
        self.count = cores() if count is None else count
        if self.count < 1:
            raise BadInput(f"there must be at least 1 worker, got {count}")
        self._gpus = gpus()
        self._workers: list[Worker] = []
        self._inbox: Inbox = queue.SimpleQueue()

    def __enter__(self) -> "Workers":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def run(self, place: Place, tasks: Sequence[Task[Any]], tell: EventHandler) -> list[Output]:
        """Do all the tasks, as many at a time as there are workers."""
        outputs: dict[int, Output] = {}
        waiting, retries, described = deque(range(len(tasks))), Retries(tell), describe_place(place)
        try:
            while len(outputs) < len(tasks):
                self._hand_out(described, tasks, waiting, tell)
                worker, message = self._inbox.get()
                if worker not in self._workers:  # the last word of one that was dismissed
                    continue
                if worker.number is None:  # died while it had nothing to do
                    self._discard(worker)
                    continue
                number, task = worker.number, tasks[worker.number]
                if "event" in message:
                    tell(TaskEvent(**message["event"]))
                    continue
                if "output" in message:
                    outputs[number] = Output.from_dict(message["output"])
                    worker.number = None
                    tell(TaskEvent("ended", task.key))
                else:
                    retries.after(task.key, self._mishap(place, worker, message, task.key))
                    waiting.appendleft(number)
                if task.exclusive:
                    self._discard(worker)
        except BaseException:
            self.stop(place)
            raise
        return [outputs[number] for number in range(len(tasks))]

    def stop(self, place: Place | None = None) -> None:
        """End all workers; what they were in the middle of is undone."""
        for worker in self._workers:
            worker.ask_to_end()
        while self._workers:
            self._discard(self._workers[-1], place)

    def _hand_out(
        self, described: dict[str, Any], tasks: Sequence[Task[Any]], waiting: deque[int], tell: EventHandler
    ) -> None:
        """Give every free worker a task; trainings wait where they would crowd a GPU."""
        limit = TRAININGS_PER_GPU * len(self._gpus) or self.count
        share = described["threads"] or max(1, cores() // min(self.count, len(tasks)))
        for number in list(waiting):
            busy = [tasks[worker.number] for worker in self._workers if worker.number is not None]
            task = tasks[number]
            if len(busy) >= self.count:
                return
            if task.trains and sum(other.trains for other in busy) >= limit:
                continue
            worker = self._free(exclusive=task.exclusive)
            threads = described["threads"] if task.exclusive else share
            waiting.remove(number)
            worker.give(number, {"place": described | {"threads": threads}, "task": task.to_dict()})
            tell(TaskEvent("begun", task.key, pid=worker.pid))

    def _free(self, exclusive: bool) -> Worker:
        """A worker without work; a fresh one where there is none, or where a task wants to be alone."""
        idle = [worker for worker in self._workers if worker.number is None]
        if idle and not exclusive:
            return idle[0]
        gpu = self._gpus[len(self._workers) % len(self._gpus)] if self._gpus and not exclusive else None
        worker = Worker(self._inbox, gpu, all_cores=exclusive)
        self._workers.append(worker)
        return worker

    def _mishap(self, place: Place, worker: Worker, message: dict[str, Any], key: str) -> TransientError:
        """Dismiss a worker after a failure that may pass; any other failure is raised."""
        if not message:
            end = worker.end()
            self._discard(worker, place)
            return TransientError(f"worker {worker.pid} {end}")
        error = restore(message["error"], key)
        self._discard(worker, place)
        if not isinstance(error, TransientError):
            raise error
        return error

    def _discard(self, worker: Worker, place: Place | None = None) -> None:
        worker.number = None
        if worker in self._workers:
            self._workers.remove(worker)
        worker.end()
        if place is not None:
            sweep_process(place.folder, worker.pid)
