"""Where a study lies: its folders, and what every stage needs to know."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from blindsave import store
from blindsave.evidence.contestants import Contestant, from_file
from blindsave.evidence.ledger import Ledger
from blindsave.learning.distil.progress import Progress
from blindsave.policies.catalog import model_file
from blindsave.stages.scales import Scale


@dataclass(frozen=True)
class Site:
    """A study in its folder; hashable and small, so that tasks can carry it to other processes."""

    folder: Path
    scale: Scale
    teacher: Path | None = None
    """Teacher file; the shipped one by default."""
    train_teacher: bool = False
    threads: int | None = None
    quiet: bool = False

    @property
    def work(self) -> Path:
        """Artifacts: datasets, students, grids. Everything here can be made again."""
        return self.folder / "work"

    @property
    def results(self) -> Path:
        """What the report reads; with `models` and the plan it is what one would publish."""
        return self.folder / "results"

    @property
    def models(self) -> Path:
        """Policies: `teacher/teacher.safetensors`, `students/FAMILY/SEED.safetensors`."""
        return self.folder / "models"

    @property
    def plan(self) -> Path:
        """The analysis plan that the freeze binds."""
        return self.folder / "protocol.toml"

    @property
    def manifest(self) -> Path:
        """The freeze manifest."""
        return self.results / "freeze.json"

    @property
    def ledger(self) -> Ledger:
        """The ledger of freeze and release."""
        return Ledger(self.results / "ledger.jsonl")

    @property
    def teacher_file(self) -> Path:
        """The study's own copy of its teacher."""
        return self.models / "teacher" / "teacher.safetensors"

    @property
    def teacher_source(self) -> Path:
        """Where the teacher comes from, unless the study trains it."""
        return self.teacher or model_file("teacher")

    def student_file(self, family: str, seed: int) -> Path:
        """The study's own copy of a final student."""
        return self.models / "students" / family / f"{seed}.safetensors"

    def students(self) -> list[tuple[str, int]]:
        """Every (family, training seed)."""
        return [(name, seed) for name in self.scale.families for seed in self.scale.training_seeds]

    def contestants(self) -> list[Contestant]:
        """Every final student, and the teacher."""
        finals = [from_file(self.student_file(name, seed), name, seed) for name, seed in self.students()]
        return [*finals, self.teacher_contestant()]

    def teacher_contestant(self) -> Contestant:
        """The teacher, ready to play."""
        return from_file(self.teacher_file)

    def progress(self, title: str, total: int) -> Progress:
        """A bar on a terminal, an occasional line elsewhere."""
        return Progress(title, total, quiet=self.quiet)

    def write_json(self, name: str, value: Any) -> Path:
        """Write a JSON file of the results."""
        return store.write_json(self.results / name, value)


@lru_cache(maxsize=4)
def once(site: Site, make: Callable[[Site], Any]) -> Any:
    """What `make` gives for a site, made once per process (opening a teacher or verifying the base data is slow)."""
    return make(site)
