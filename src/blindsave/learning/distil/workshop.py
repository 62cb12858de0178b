"""Distil families in a work folder, one after another or several at a time on local workers."""

import contextlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from blindsave.engine import Output, Task, TaskEvent, Workers
from blindsave.learning.distil.config import Recipe
from blindsave.learning.distil.deadline import OutOfTime
from blindsave.learning.distil.elsewhere import ImportingPipeline
from blindsave.learning.distil.pipeline import Budget, Pipeline
from blindsave.learning.dreamer.runtime import use_cache
from blindsave.policies.catalog import TEACHER, model_file, resolve
from blindsave.policies.named import absolute, check_teacher
from blindsave.policies.students.registry import family as family_of
from blindsave.progress import Progress


@dataclass(frozen=True)
class Workshop:
    """Where one teacher is distilled; small and hashable, so that tasks can carry it to other processes as JSON."""

    work: Path
    teacher: Path | None = None
    """Teacher file, or the name of a policy that can teach; the shipped teacher by default."""
    budget: Budget = field(default_factory=Budget)
    threads: int | None = None
    deadline: float | None = None
    """In seconds of this machine's `time.monotonic`."""

    @property
    def folder(self) -> Path:
        """Everything lies below it."""
        return self.work

    def to_dict(self) -> dict[str, Any]:
        """The workshop as JSON."""
        teacher = None if self.teacher is None else str(absolute(self.teacher))
        return asdict(self) | {"work": str(self.work.resolve()), "teacher": teacher}

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> "Workshop":
        """What `to_dict` wrote, after a journey as JSON."""
        budget = found["budget"]
        seeds, recipe = tuple(budget["seeds"]), Recipe(**budget["recipe"])
        teacher = None if found["teacher"] is None else Path(found["teacher"])
        conditions = tuple((name, share) for name, share in budget["conditions"])
        whole = Budget(**{**budget, "seeds": seeds, "recipe": recipe, "conditions": conditions})
        return cls(Path(found["work"]), teacher, whole, found["threads"], found["deadline"])

    def forget(self) -> None:
        """Drop what this process remembers of files below `work`."""
        open_pipeline.cache_clear()


@lru_cache(maxsize=1)
def open_pipeline(shop: Workshop) -> Pipeline:
    """The pipeline of a workshop's teacher, opened once per process."""
    return pipeline_of(shop)


def pipeline_of(shop: Workshop) -> Pipeline:
    """The pipeline of a workshop's teacher, with a compilation cache; it goes on from an archive that was put back."""
    use_cache(shop.work / "cache")
    source = shop.teacher or model_file(TEACHER)
    check_teacher("a teacher", source)
    named: Any = resolve(source)
    return ImportingPipeline(
        shop.work, named.policy, named.sha256, shop.budget, threads=shop.threads, deadline=shop.deadline
    )


def distil(shop: Workshop, families: Sequence[str], parallel: int = 1) -> dict[str, Any]:
    """Run both stages of the families; `parallel` of them at a time compile, simulate and train side by side."""
    for name in families:
        family_of(name)
    if parallel == 1 or len(families) == 1:
        found = {name: open_pipeline(shop).run(name) for name in families}
    else:
        found = _side_by_side(shop, families, parallel)
    return {"work": str(shop.work), "families": found}


def minutes_from_now(minutes: float | None) -> float | None:
    """The deadline of a workshop that may work for so long."""
    return None if minutes is None else time.monotonic() + 60 * minutes


def _side_by_side(shop: Workshop, families: Sequence[str], parallel: int) -> dict[str, Any]:
    tasks = [Task(name, distil_family, {"family": name}, {f"train {name}": 1}) for name in families]
    with Workers(parallel) as workers, Progress("families", len(tasks)) as bar:

        def tell(event: TaskEvent) -> None:
            if event.what == "fault":
                bar.note(f"blindsave: {event.remark}")
            else:
                bar.at(bar.done + (event.what == "ended"), f"{event.key} {event.remark}".rstrip())

        workers.run(shop, [Task("base", collect_base)], lambda event: None)  # once, before anyone needs it
        outputs = workers.run(shop, tasks, tell)
    found = {name: output.result for name, output in zip(families, outputs, strict=True)}
    done = [name for name, result in found.items() if result]
    if len(done) < len(found):
        raise OutOfTime(f"{len(done)} of {len(found)} families are done; run the same command again")
    return found


def collect_base(shop: Workshop) -> Output:
    """Collect the teacher's episodes, unless time is up."""
    with contextlib.suppress(OutOfTime):
        open_pipeline(shop).base()
    return Output()


def distil_family(shop: Workshop, family: str) -> Output:
    """Everything a family needs; no result where time was up before that. The others get to keep their checkpoints."""
    try:
        return Output(result=open_pipeline(shop).run(family))
    except OutOfTime:
        return Output()
