"""Where a study lies: its folders, and what every stage needs to know."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from blindsave import store
from blindsave.errors import BadFile
from blindsave.evidence.ledger import Ledger
from blindsave.evidence.plan import GUEST
from blindsave.plugins import add_plugins
from blindsave.policies.catalog import TEACHER, NamedPolicy, from_file, model_file
from blindsave.policies.named import absolute
from blindsave.progress import Progress
from blindsave.stages.scales import Scale

PLUGINS = "plugins"
"""Where a study keeps copies of the plugin files it was made with."""


@dataclass(frozen=True)
class Site:
    """A study in its folder; hashable and small, so that tasks can carry it to other processes as JSON."""

    folder: Path
    scale: Scale
    teacher: Path | None = None
    """Teacher file, or the name of a policy that can teach; the shipped teacher by default."""
    threads: int | None = None
    quiet: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The site as JSON, with paths that mean the same wherever the disk is seen."""
        teacher = None if self.teacher is None else str(absolute(self.teacher))
        where = {"folder": str(self.folder.resolve()), "scale": self.scale.to_dict(), "teacher": teacher}
        return where | {"threads": self.threads, "quiet": self.quiet}

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> "Site":
        """What `to_dict` wrote."""
        teacher = None if found["teacher"] is None else Path(found["teacher"])
        # First of all: families and conditions of the scale may be theirs.
        add_plugins(_plugin(Path(found["folder"]), name) for name, _ in found["scale"].get("plugins", ()))
        return cls(Path(found["folder"]), Scale.from_dict(found["scale"]), teacher, found["threads"], found["quiet"])

    def forget(self) -> None:
        """Drop what this process remembers of the study's files."""
        once.cache_clear()

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

    def guest_file(self, name: str, seed: int) -> Path:
        """The study's own copy of a policy that it did not train."""
        return self.folder / GUEST.format(policy=name, seed=seed)

    def students(self) -> list[tuple[str, int]]:
        """Every (family, training seed)."""
        return [(name, seed) for name in self.scale.families for seed in self.scale.training_seeds]

    def players(self) -> list[tuple[str, int]]:
        """Every (family, training seed), the teacher with seed 0, and the guests."""
        return players(self.scale)

    def policy(self, family: str, seed: int) -> NamedPolicy:
        """A final student, or the teacher, ready to play."""
        if family in dict(self.scale.guests):
            return from_file(self.guest_file(family, seed), family, seed)
        return from_file(self.student_file(family, seed), family, seed) if seed else self.teacher_policy()

    def policies(self) -> list[NamedPolicy]:
        """Every final student, and the teacher."""
        return [self.policy(family, seed) for family, seed in self.players()]

    def teacher_policy(self) -> NamedPolicy:
        """The teacher, ready to play."""
        return from_file(self.teacher_file, TEACHER, 0)

    def progress(self, title: str, total: int) -> Progress:
        """A bar on a terminal, an occasional line elsewhere."""
        return Progress(title, total, quiet=self.quiet)

    def publish(self, path: Path, content: bytes) -> Path:
        """Write a file that the freeze binds; once the test is open, only the same content again."""
        if path.exists() and path.read_bytes() == content:
            return path
        if path.exists() and self.ledger.last("opening") is not None:
            raise BadFile(f"{path} was frozen before the test was opened and cannot be replaced by another content")
        return store.write_whole(path, content)

    def write_json(self, name: str, value: Any) -> Path:
        """Write a JSON file of the results."""
        return store.write_json(self.results / name, value)


def _plugin(folder: Path, name: str) -> str:
    """A study's own copy of a plugin file; modules are known by name."""
    return str(folder / PLUGINS / name) if name.endswith(".py") else name


def players(scale: Scale) -> list[tuple[str, int]]:
    """Who meets every test at a scale: each (family, training seed), the teacher with seed 0, and the guests."""
    students = ((name, seed) for name in scale.families for seed in scale.training_seeds)
    return [*students, (TEACHER, 0), *((name, seed) for name, files in scale.guests for seed, _ in files)]


@lru_cache(maxsize=4)
def once(site: Site, make: Callable[[Site], Any]) -> Any:
    """What `make` gives for a site, made once per process (opening a teacher or verifying the base data is slow)."""
    return make(site)
