"""Where the work of a stage is done.

A stage is a list of tasks. A task is a module-level function with plain arguments, so it can travel to another process
or machine; it is idempotent (what it makes is an artifact named by its content), and its output is placed by its key.
An engine may therefore run tasks anywhere, in any order, and again after a failure, without changing a byte.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

S = TypeVar("S")


@dataclass(frozen=True)
class Output:
    """What a task leaves behind."""

    files: tuple[Path, ...] = ()
    """Files whose bytes are the result: equal runs write equal ones."""
    artifacts: tuple[Path, ...] = ()
    """Artifact folders; their manifests carry dates and machines."""
    result: Mapping[str, Any] = field(default_factory=dict)
    """A few numbers worth telling, JSON-ready."""


@dataclass(frozen=True)
class Task(Generic[S]):
    """One piece of work of a stage."""

    key: str
    """Unique within the stage; outputs are ordered by the tasks, never by completion."""
    work: Callable[[S], Output]
    cost: Mapping[str, float] = field(default_factory=dict)
    """How much of what it takes, in units of `blindsave.stages.estimate.RATES`."""


class Engine(Protocol[S]):
    """Runs tasks and gives each output back with its task's number, in any order."""

    def run(self, site: S, tasks: Sequence[Task[S]]) -> Iterator[tuple[int, Output]]:
        """Do all the tasks."""
        ...


class InProcess(Generic[S]):
    """One task after another, here; simulation and training use all cores by themselves."""

    def run(self, site: S, tasks: Sequence[Task[S]]) -> Iterator[tuple[int, Output]]:
        """Do all the tasks in order."""
        for number, task in enumerate(tasks):
            yield number, task.work(site)
