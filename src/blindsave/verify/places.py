"""Where a study's files lie: in a checkout, in a study's folder, or, for further studies, beside each other."""

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from blindsave.errors import BadInput

PLAN, LEDGER, FREEZE = "protocol.toml", "ledger.jsonl", "freeze.json"
LEFT_OUT = "left_out.json"
TEACHER = "models/teacher/teacher.safetensors"


@dataclass(frozen=True)
class Place:
    """The three parts of a study; names of files are those its freeze uses: results/..., models/..., protocol.toml."""

    results: Path
    models: Path
    plan: Path
    teacher: Path | None = None
    """Where the teacher lies, if not among the study's own models: several studies may have one."""

    def path(self, name: str) -> Path:
        """Where a named file lies."""
        if name == TEACHER and self.teacher is not None:
            return self.teacher
        top, _, rest = name.partition("/")
        parts = {"results": self.results, "models": self.models}
        return parts[top] / rest if rest and top in parts else self.plan.parent / name

    def name(self, path: Path) -> str:
        """The name of a file."""
        for top, folder in (("results", self.results), ("models", self.models)):
            if path.is_relative_to(folder):
                return f"{top}/{path.relative_to(folder).as_posix()}"
        beside = self.plan.parent
        return path.relative_to(beside).as_posix() if path.is_relative_to(beside) else path.name

    def matching(self, pattern: str) -> list[str]:
        """Names of the files that fit a plan's pattern."""
        top, _, rest = pattern.partition("/")
        return sorted(self.name(path) for path in self.path(top + "/.").glob(rest or top) if path.is_file())


def locate(folder: str | Path | None = None) -> Place:
    """The study of a folder: one that holds `results`, or the results themselves; the shipped one by default."""
    root = (shipped() if folder is None else Path(folder)).resolve()
    results = root / "results" if (root / "results").is_dir() else root
    if not results.is_dir():
        raise BadInput(f"there is no study in {folder or root}")
    plan = next((path for path in (results / PLAN, results.parent / PLAN) if path.is_file()), results.parent / PLAN)
    if results.parent.parent.name != "results":
        return Place(results, results.parent / "models", plan)
    # A further study: results/faults/faithful_7303 has its models in models/faults/faithful_7303. A teacher that many
    # studies have is shipped once, as models/teachers/faithful_7303.
    everything = results.parents[2] / "models"
    models, teacher = (everything / group / results.name for group in (results.parent.name, "teachers"))
    own, shared = (folder / "teacher" / "teacher.safetensors" for folder in (models, teacher))
    return Place(results, models, plan, None if own.is_file() else shared)


def shipped() -> Path:
    """The checkout worked in, or what came with this package."""
    here = Path.cwd()
    return here if (here / "results" / FREEZE).is_file() else brought()


def brought() -> Path:
    """Plan, models and results that came with this package: inside it, or the checkout that it is installed from."""
    package = Path(str(files("blindsave"))).resolve()
    return package if (package / PLAN).is_file() else package.parents[1]
