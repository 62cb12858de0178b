"""Tasks: pieces of work that can be written down, and so be done anywhere.

A task is a module-level function with plain arguments. It is idempotent (what it makes is an artifact named by its
content), and its output is placed by its number. An engine may therefore do tasks in any process, on any machine, in
any order, and again after a failure, without changing a byte of the result.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Concatenate, Generic, Protocol, TypeVar

from blindsave.errors import BadInput
from blindsave.store import canonical_json

S = TypeVar("S")


class Place(Protocol):
    """Where tasks work: a folder, and a description from which another process opens the same place (`from_dict`)."""

    @property
    def folder(self) -> Path:
        """Everything lies below it."""
        ...

    @property
    def work(self) -> Path:
        """Artifacts that can be made again lie below it."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """The place as JSON, its number of `threads` (or None) among it."""
        ...

    def forget(self) -> None:
        """Drop what this process remembers of files below `work`."""
        ...


@dataclass(frozen=True)
class Output:
    """What a task leaves behind."""

    files: tuple[Path, ...] = ()
    """Files whose bytes are the result: equal runs write equal ones."""
    artifacts: tuple[Path, ...] = ()
    """Artifact folders; their manifests carry dates and machines."""
    result: Mapping[str, Any] = field(default_factory=dict)
    """A few numbers worth telling, JSON-ready."""

    def to_dict(self) -> dict[str, Any]:
        """The output as JSON."""
        return {"files": [*map(str, self.files)], "artifacts": [*map(str, self.artifacts)], "result": dict(self.result)}

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> "Output":
        """What `to_dict` wrote."""
        return cls(tuple(map(Path, found["files"])), tuple(map(Path, found["artifacts"])), found["result"])


@dataclass(frozen=True)
class Task(Generic[S]):
    """One piece of work of a stage."""

    key: str
    """Unique within the stage; people read it."""
    work: Callable[Concatenate[S, ...], Output]
    """Called with the place and the arguments."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    cost: Mapping[str, float] = field(default_factory=dict)
    """How much of what it takes, in units of `blindsave.stages.estimate`."""
    exclusive: bool = False
    """Wants a process of its own and all of a machine's cores."""

    def __post_init__(self) -> None:
        if json.loads(canonical_json(self.arguments)) != dict(self.arguments):
            raise BadInput(f"the arguments of the task `{self.key}` are not plain JSON")
        if function_named(self.name) is not self.work:
            raise BadInput(f"the work of the task `{self.key}` is not a function that other processes can import")

    @property
    def name(self) -> str:
        """The function's name, by which any process finds it: "module:function"."""
        return f"{self.work.__module__}:{self.work.__qualname__}"

    @property
    def trains(self) -> bool:
        """Whether it trains students: that is what wants a GPU where there is one."""
        return any(unit.startswith("train ") for unit in self.cost)

    def to_dict(self) -> dict[str, Any]:
        """The task as JSON."""
        plain = {"key": self.key, "work": self.name, "exclusive": self.exclusive}
        return plain | {"arguments": dict(self.arguments), "cost": dict(self.cost)}

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> "Task[Any]":
        """What `to_dict` wrote."""
        work = function_named(found["work"])
        if work is None:
            raise BadInput(f"the task `{found['key']}` is work that this version does not know: {found['work']}")
        return cls(**{**found, "work": work})


def function_named(name: str) -> Callable[..., Any] | None:
    """The function of a name "module:function"; None where there is no such thing."""
    module, _, function = name.partition(":")
    return getattr(import_module(module), function, None)


def describe_place(place: Place) -> dict[str, Any]:
    """A place as JSON, with the name of its class, by which any process opens it."""
    return {"kind": f"{type(place).__module__}:{type(place).__qualname__}", **place.to_dict()}


def open_place(described: Mapping[str, Any]) -> Place:
    """The place that `describe_place` described."""
    kind: Any = function_named(described["kind"])
    return kind.from_dict(described)


@dataclass(frozen=True)
class TaskEvent:
    """What an engine tells while it works: a task has `begun`, gets on (`progress`), has `ended`; or a `fault`."""

    what: str
    key: str
    """Of the task."""
    done: int = 0
    total: int = 0
    remark: str = ""
    """What a progress bar would say; for a fault, the sentence."""
    pid: int | None = None
    """Process that does it."""


EventHandler = Callable[[TaskEvent], None]
Dispatch = Callable[[Sequence[Task[S]]], list[Output]]
"""Does tasks on whatever engine there is; outputs come in the order of the tasks."""


class Engine(Protocol):
    """Does tasks, one or many at a time."""

    def run(self, place: Any, tasks: Sequence[Task[Any]], tell: EventHandler) -> list[Output]:
        """Do all the tasks; outputs come in their order. What cannot be cured by doing it again is raised."""
        ...
