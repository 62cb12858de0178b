"""A student: a family, its parameters and where they came from; saved, loaded and run."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from blindsave import __version__
from blindsave.errors import BadFile, BadInput
from blindsave.policies import files
from blindsave.policies.arithmetic import ARITHMETIC
from blindsave.policies.native import ProgramPolicy
from blindsave.policies.students.family import Family
from blindsave.policies.students.registry import family, find

FORMAT = "blindsave.student"
VERSION = 1
STAGES = ("initial", "collector", "final")
FIELDS: dict[str, type | tuple[type, ...]] = {
    "version": int,
    "family": str,
    "sizes": dict,
    "arithmetic": str,
    "seed": int,
    "stage": str,
    "dataset": str,
    "selected_epoch": int,
    "validation_mse": (int, float, type(None)),
    "notes": dict,
    "package": str,
}


@dataclass(frozen=True)
class Provenance:
    """How a student's parameters came to be."""

    seed: int
    stage: str = "initial"
    """`initial` (untrained), `collector` (first stage) or `final`."""
    dataset: str = ""
    """Identity of the training data; empty for an untrained student."""
    selected_epoch: int = 0
    validation_mse: float | None = None
    notes: dict[str, Any] = field(default_factory=dict)
    """Anything else worth keeping, JSON-ready."""


class Student(ProgramPolicy):
    """A policy of the study; `parameters` are in its file, `program` is what runs."""

    def __init__(
        self,
        family: Family,
        parameters: Mapping[str, np.ndarray],
        provenance: Provenance,
        path: str | None = None,
    ) -> None:
        super().__init__(f"{family.name}/{provenance.seed}", family.program(parameters), path)
        self.family = family
        self.parameters = dict(parameters)
        self.provenance = provenance

    def __repr__(self) -> str:
        """Name, stage and size, as in <Student structured_k0/14303, final, 12,002 parameters>."""
        count = sum(array.size for array in self.parameters.values())
        return f"<Student {self.name}, {self.provenance.stage}, {count:,} parameters>"

    @classmethod
    def untrained(cls, name: str, seed: int) -> "Student":
        """An untrained student of a registered family."""
        kind = family(name)
        return cls(kind, kind.init(seed), Provenance(seed))

    def save(self, path: Path) -> None:
        """Write the student to a safetensors file."""
        save_student(path, self.family, self.parameters, self.provenance)


def sizes(family: Family) -> dict[str, int]:
    """The widths a file states, so that a reader without this package knows what it holds."""
    core = family.core
    return {"encoder_input": core.observed, "memory": core.memory, "carry": family.carry, "features": family.features}


def save_student(path: Path, family: Family, parameters: Mapping[str, Any], provenance: Provenance) -> None:
    """Write parameters and provenance; refuses what the loader would refuse."""
    if provenance.stage not in STAGES:
        raise BadInput(f"a stage is one of {', '.join(STAGES)}, not `{provenance.stage}`")
    arrays = {name: np.asarray(array, np.float32) for name, array in parameters.items()}
    files.check_shapes(path, arrays, family.shapes)
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise BadInput(f"`{name}` holds a value that is not finite")
    metadata = {
        files.FORMAT_KEY: FORMAT,
        "version": VERSION,
        "family": family.name,
        "sizes": sizes(family),
        "arithmetic": ARITHMETIC,
        "package": __version__,
        **asdict(provenance),
    }
    files.write_policy(path, {name: arrays[name] for name in family.shapes}, metadata)


def student_from(path: Path, tensors: Mapping[str, np.ndarray], metadata: Mapping[str, Any]) -> Student:
    """Check what was read from a file and build the student."""
    files.check_fields(path, metadata, FIELDS)
    kind = find(metadata["family"])
    if kind is None:
        raise BadFile(f"{path}: the family `{metadata['family']}` is not registered")
    for key, expected in (("version", VERSION), ("arithmetic", ARITHMETIC), ("sizes", sizes(kind))):
        if metadata[key] != expected:
            raise BadFile(f"{path}: the metadata field `{key}` is {metadata[key]!r}, not {expected!r}")
    if metadata["stage"] not in STAGES:
        raise BadFile(f"{path}: the metadata field `stage` cannot be `{metadata['stage']}`")
    files.check_shapes(path, tensors, kind.shapes)
    keys = Provenance.__dataclass_fields__
    return Student(kind, {name: tensors[name] for name in kind.shapes}, Provenance(**{k: metadata[k] for k in keys}))


def load_student(path: Path) -> Student:
    """Read a student's file; what is wrong with it is said by name."""
    tensors, metadata = files.read_policy(path)
    if metadata[files.FORMAT_KEY] != FORMAT:
        raise BadFile(f"{path} holds a {metadata[files.FORMAT_KEY]}, not a {FORMAT}")
    return student_from(path, tensors, metadata)
