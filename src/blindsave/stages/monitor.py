"""Watch a stage: one bar for all its tasks, its record kept up to date, faults said and kept."""

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

from blindsave.engine import EventHandler, Task, TaskEvent
from blindsave.engine.repair import quarantine
from blindsave.errors import Damaged
from blindsave.progress import Progress
from blindsave.stages import faults
from blindsave.stages.records import Records
from blindsave.stages.site import Site


class StageMonitor:
    """Hears the event of a stage's tasks; use it as a context manager."""

    def __init__(
        self,
        site: Site,
        records: Records,
        stage: str,
        key: str,
        tasks: Sequence[Task[Any]],
        listen: EventHandler | None,
    ) -> None:
        self.site, self.records, self.stage, self.key, self.listen = site, records, stage, key, listen
        self.amounts: Mapping[str, int] = {task.key: int(sum(task.cost.values())) for task in tasks}
        self.shares: dict[str, float] = {}
        self.running: list[str] = []
        self.done: set[str] = set()
        total = sum(self.amounts.values())
        self.bar = Progress(stage, total, quiet=site.quiet or not total)

    def __enter__(self) -> "StageMonitor":
        self.bar.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bar.__exit__(kind, error, trace)

    def tell(self, event: TaskEvent) -> None:
        """Something happened to a task."""
        if event.what == "fault":
            self.fault(event.key, event.remark)
        elif event.what == "progress":
            self.shares[event.key] = event.done / max(event.total, 1)
            self._show(f"{event.key}: {event.remark}" if event.remark else None)
        else:
            self._count(event)
        if self.listen:
            self.listen(event)

    def fault(self, task: str, sentence: str) -> None:
        """Say and keep a fault that the study survives."""
        self.bar.note(f"blindsave: {self.stage}: {sentence}")
        faults.keep(self.site.folder, self.stage, task, sentence)

    def mend(self, damage: Damaged) -> None:
        """Set a damaged piece aside, to be made again."""
        self.fault(self.stage, quarantine(self.site, damage))

    def _count(self, event: TaskEvent) -> None:
        self.running = [key for key in self.running if key != event.key]
        if event.what == "begun":
            self.running.append(event.key)
        else:
            self.done.add(event.key)
            self.shares[event.key] = 1.0
        self.records.advance(self.stage, self.key, len(self.done), len(self.amounts), self.running)
        self._show(None)

    def _show(self, remark: str | None) -> None:
        shares = ((self.amounts.get(key, 0), share) for key, share in self.shares.items())
        self.bar.at(int(sum(amount * min(share, 1.0) for amount, share in shares)), remark)
