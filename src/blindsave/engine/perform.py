"""Do one task in this process; and the JSON in which tasks, outputs and errors travel between processes."""

import os
import sys
import traceback
from collections.abc import Mapping
from typing import Any

from blindsave import errors
from blindsave.engine.repair import with_repair
from blindsave.engine.task import EventHandler, Output, Place, Task, TaskEvent, open_place
from blindsave.errors import BlindsaveError
from blindsave.progress import redirect_progress
from blindsave.store import needs_room

OUT_OF_MEMORY = "RESOURCE_EXHAUSTED"
"""How JAX says that a GPU's memory is full; it may be free later."""


class TransientError(Exception):
    """A task failed for a reason that may be gone the next time: its worker died, or a disk or memory let it down."""


def perform(place: Place, task: Task[Any], tell: EventHandler) -> Output:
    """Do a task here; damaged pieces below the place's `work` are made again."""

    def progress(done: int, total: int, remark: str) -> None:
        tell(TaskEvent("progress", task.key, done, total, remark, os.getpid()))

    def fault(sentence: str) -> None:
        tell(TaskEvent("fault", task.key, remark=sentence))

    with needs_room(place.folder), redirect_progress(progress):
        return with_repair(place, lambda: task.work(place, **task.arguments), fault)


def may_pass(error: BaseException) -> bool:
    """Whether doing the same again may help."""
    if isinstance(error, BlindsaveError):
        return False
    return isinstance(error, TransientError | OSError | MemoryError) or OUT_OF_MEMORY in str(error)


def answer(request: Mapping[str, Any], tell: EventHandler) -> dict[str, Any]:
    """Do a task described in JSON and describe what came of it: an `output` or an `error`."""
    # Several processes share a GPU: none may take all its memory for itself.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    try:
        task = Task.from_dict(request["task"])
        return {"output": perform(open_place(request["place"]), task, tell).to_dict()}
    except Exception as error:
        return {"error": describe(error)}


def describe(error: Exception) -> dict[str, Any]:
    """An error as JSON."""
    known = isinstance(error, BlindsaveError)
    return {
        "kind": type(error).__name__,
        "sentence": str(error) or type(error).__name__,
        "missing": error.name if isinstance(error, ModuleNotFoundError) else None,
        "may_pass": may_pass(error),
        "trace": "" if known else "".join(traceback.format_exception(error)),
    }


def restore(found: Mapping[str, Any], key: str) -> Exception:
    """The error of a task, to be raised here; a programming error is shown with its trace."""
    if found["missing"]:
        return ModuleNotFoundError(found["sentence"], name=found["missing"])
    if found["may_pass"]:
        return TransientError(f"{found['kind']}: {found['sentence']}")
    if found["trace"]:
        print(found["trace"], file=sys.stderr)
        return RuntimeError(f"the task `{key}` failed: {found['kind']}: {found['sentence']}")
    kind = getattr(errors, found["kind"], BlindsaveError)
    return BlindsaveError(found["sentence"]) if kind is errors.Damaged else kind(found["sentence"])
