"""The files of a submission, and what binds them.

A submission is a folder as people share models: a card (`README.md`), `config.json` and safetensors; and, beside them,
the plan and one row per episode. It is about one policy, trained from one or several seeds. Every policy plays two
tests of the plan: the principal one, the same for everybody, and a sealed one, whose shots are drawn from the hash of
plan and weights, so that nobody can have trained for them.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from blindsave import store
from blindsave.errors import BadFile
from blindsave.evidence.freeze import SEALED_SPLIT, sealed_seed
from blindsave.evidence.plan import Plan, load_plan
from blindsave.evidence.release import planned_sealed_shots
from blindsave.evidence.schedule import Schedule
from blindsave.evidence.tables import Expected
from blindsave.verify.places import PLAN, brought

SCHEMA = "blindsave.submission.v1"
CONFIG, CARD, ROWS = "config.json", "README.md", "episodes.parquet"
PRINCIPAL = "principal_test"


@dataclass(frozen=True)
class About:
    """What people say of their policy; nothing here is checked."""

    title: str
    authors: str = ""
    description: str = ""
    link: str = ""
    license: str = ""


@dataclass(frozen=True)
class Model:
    """One trained policy: the file it lies in (None for a rule of this package) and its SHA-256."""

    file: str | None
    sha256: str


@dataclass(frozen=True)
class Submission:
    """`config.json`, read."""

    policy: str
    """What its rows call it: a family, or the name of a policy without training seed."""
    models: Mapping[int, Model]
    """By training seed; 0 where there is none."""
    weights: int
    """Numbers in one model's file."""
    plan_sha256: str
    rows_sha256: str
    sealed_seed: int
    about: About
    made_with: Mapping[str, Any]

    @property
    def seeds(self) -> tuple[int, ...]:
        """Training seeds."""
        return tuple(sorted(self.models))

    def to_dict(self) -> dict[str, Any]:
        """The document."""
        models = {str(seed): asdict(self.models[seed]) for seed in self.seeds}
        return {"schema": SCHEMA} | asdict(self) | {"models": models}

    @classmethod
    def read(cls, folder: Path) -> "Submission":
        """Read `config.json`; what is missing or of the wrong kind is a `BadFile`."""
        document = store.read_json(folder / CONFIG)
        if not isinstance(document, dict) or document.get("schema") != SCHEMA:
            raise BadFile(f"{folder / CONFIG} is not a submission of schema {SCHEMA}")
        try:
            kept = {key: value for key, value in document.items() if key != "schema"}
            models = {int(seed): Model(**one) for seed, one in kept["models"].items()}
            found = cls(**kept | {"models": models, "about": About(**kept["about"])})
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise BadFile(f"{folder / CONFIG} is incomplete: {error!r}") from error
        if not found.models or not all(_is_plain(model.file) for model in found.models.values()):
            raise BadFile(f"{folder / CONFIG} must name models that lie beside it")
        return found


def is_submission(folder: Path) -> bool:
    """Whether a folder says that it is one."""
    return (folder / CONFIG).is_file()


def published_plan() -> Plan:
    """The plan that every submission follows: the published one."""
    return load_plan(brought() / PLAN)


def seed_of(plan_sha256: str, models: Mapping[int, Model]) -> int:
    """The seed of a submission's sealed test: nothing but plan and weights decide it."""
    return sealed_seed(store.digest({"plan": plan_sha256, "models": [models[seed].sha256 for seed in sorted(models)]}))


def schedules(plan: Plan, seed: int) -> dict[str, Schedule]:
    """The tests of a submission, in the order of its rows."""
    return {
        split: plan.grids[split].schedule(planned_sealed_shots(plan, seed) if split == SEALED_SPLIT else ())
        for split in sorted(plan.splits)
    }


def expected(policy: str, seeds: tuple[int, ...], tests: Mapping[str, Schedule]) -> Expected:
    """What a complete table of rows holds."""
    return Expected({policy: seeds}, tuple(test.layout for test in tests.values()))


def _is_plain(name: str | None) -> bool:
    """Whether a file's name leads nowhere else."""
    return name is None or (isinstance(name, str) and Path(name).name == name and not name.startswith("."))
