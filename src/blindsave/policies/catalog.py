"""The one catalogue of policies: from what a user may name to a policy, its name in tables, its file and its hash.

A name is, in this order: a registered name (a scripted policy, a classical rival, or one of a plugin or an installed
package), a path of a policy file, FAMILY/SEED for a student or the memoryless control (`ppo`) among the shipped models,
or the bare name of another shipped model (`teacher`).
"""

import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from blindsave.errors import BadFile, BadInput
from blindsave.plugins import load_plugins
from blindsave.policies import files
from blindsave.policies.base import Policy, can_teach
from blindsave.policies.students.registry import PAPER_FAMILIES, find
from blindsave.store import digest, sha256_file

MODELS_VARIABLE = "BLINDSAVE_MODELS"
"""Environment variable that names another folder of models."""

TEACHER = "teacher"
CONTROL = "ppo"
"""The memoryless control of the memory tests: models/ppo/SEED.safetensors."""

Loader = Callable[..., Policy]

NAMES: dict[str, str | Loader] = {
    "inactive": "blindsave.policies.scripted:INACTIVE",
    "fixed_centre": "blindsave.policies.scripted:FIXED_CENTRE",
    "privileged": "blindsave.policies.scripted:PRIVILEGED",
    "planner": "blindsave.policies.classical.rivals:true_planner",
    "differences": "blindsave.policies.classical.rivals:differences",
    "least_squares": "blindsave.policies.classical.rivals:least_squares",
    "kalman": "blindsave.policies.classical.rivals:kalman",
    "kalman_gated": "blindsave.policies.classical.rivals:kalman_gated",
    "bayes": "blindsave.policies.classical.rivals:bayes",
}
"""Policies without a file: name -> a function that makes it, or the address "module:attribute" of a policy or of such
a function, imported only when used."""

FORMATS: dict[str, str | Loader] = {
    "blindsave.student": "blindsave.policies.students.student:student_from",
    "blindsave.mlp": "blindsave.policies.mlp:mlp_from",
    "blindsave.teacher": "blindsave.policies.dreamer:teacher_from",
    "blindsave.named": "blindsave.policies.named:named_from",
}
"""Kinds of policy files: `format` of the metadata -> loader(path, tensors, metadata) or its address."""

ENTRY_POINTS = "blindsave.policies"
"""Installed packages add kinds of policy files through this entry-point group: format = "module:loader"."""
NAME_ENTRY_POINTS = "blindsave.named_policies"
"""And policies without a file through this one: name = "module:policy"."""


@dataclass(frozen=True, eq=False)
class NamedPolicy:
    """A policy with the name and training seed its rows carry; `sha256` changes whenever its behaviour may."""

    family: str
    """The column `policy` of tables: a student's family, or the whole name of a policy without training seed."""
    training_seed: int
    """0 where there is none."""
    policy: Any
    sha256: str
    file: Path | None = None

    @property
    def name(self) -> str:
        """FAMILY/SEED, or the bare name where there is no seed."""
        return f"{self.family}/{self.training_seed}" if self.training_seed else self.family


def register_name(name: str, loader: str | Loader) -> None:
    """Make `load(name)` call this loader."""
    NAMES[name] = loader


def register_format(name: str, loader: str | Loader) -> None:
    """Make files of this format readable."""
    FORMATS[name] = loader


def models_folder() -> Path:
    """Where the shipped models are: BLINDSAVE_MODELS, the package, or the repository it was installed from."""
    chosen = os.environ.get(MODELS_VARIABLE)
    if chosen:
        return Path(chosen)
    package = Path(__file__).resolve().parents[1]
    inside, beside = package / "models", package.parents[1] / "models"
    return inside if inside.is_dir() else beside


def student_file(family: str, seed: int | str) -> Path:
    """Where the shipped final student of a family and training seed lies."""
    return models_folder() / "students" / family / f"{seed}.safetensors"


def model_file(name: str) -> Path:
    """Where a shipped model that is not a student lies: models/teacher/teacher.safetensors."""
    return models_folder() / name / f"{name}.safetensors"


def shipped() -> list[str]:
    """The names of all shipped students, sorted."""
    found = (models_folder() / "students").glob("*/*.safetensors")
    return sorted(f"{path.parent.name}/{path.stem}" for path in found)


def trained() -> list[str]:
    """The names of everything shipped that was trained: students in the study's order, teacher, memoryless controls."""
    order = {family: rank for rank, family in enumerate(PAPER_FAMILIES)}
    students = sorted(shipped(), key=lambda name: (order.get(name.partition("/")[0], len(order)), name))
    teacher = [TEACHER] if model_file(TEACHER).is_file() else []
    return [*students, *teacher, *sorted(f"{CONTROL}/{path.stem}" for path in control_files())]


def control_files(folder: Path | None = None) -> list[Path]:
    """The memoryless controls of a folder, by default the shipped ones."""
    return sorted((folder or models_folder() / CONTROL).glob("*.safetensors"))


def load(name: str | Path) -> Policy:
    """The policy of this name, ready to run."""
    return resolve(name).policy


def resolve(name: str | Path) -> NamedPolicy:
    """The policy of this name or file, with all that tables, messages and caches need to know of it."""
    text, path = str(name), Path(name)
    loader = _named(text)
    if loader is not None:
        found = _import(loader)
        policy = found if hasattr(found, "step") else found()
        return NamedPolicy(
            text, 0, policy, digest({"named": text, **_source(policy), **getattr(policy, "identity", {})})
        )
    if path.is_file() or path.suffix == ".safetensors":
        return from_file(path)
    file = _shipped_file(text)
    if file is None:
        known = [*NAMES, TEACHER, "FAMILY/SEED", f"{CONTROL}/SEED", "a policy file"]
        raise BadInput(f"there is no policy `{text}`; a policy is {', '.join(known[:-1])} or {known[-1]}")
    if not file.is_file():
        raise BadFile(f"no shipped model `{text}` ({file} does not exist)")
    named = from_file(file)
    if "/" not in text:
        return replace(named, family=text, training_seed=0)
    if named.name != text:
        raise BadFile(f"{file} holds {named.name}, not {text}")
    return named


def from_file(path: Path, family: str | None = None, training_seed: int | None = None) -> NamedPolicy:
    """A policy file under its own name; asking for another family or seed than the file's own is a `BadFile`."""
    policy = load_file(path)
    own, _, seed = policy.name.partition("/")
    found = (own, int(seed) if seed.isdigit() else 0)
    wanted = (own if family is None else family, found[1] if training_seed is None else training_seed)
    if wanted == (TEACHER, 0) and can_teach(policy):  # whatever it calls itself
        return NamedPolicy(TEACHER, 0, policy, sha256_file(path), path)
    if wanted != found:
        raise BadFile(f"{path} holds {policy.name}, not {wanted[0]}/{wanted[1]}")
    return NamedPolicy(*found, policy, sha256_file(path), path)


def load_file(path: Path) -> Policy:
    """The policy in a file, of any known format."""
    tensors, metadata = files.read_policy(path)
    kind = metadata[files.FORMAT_KEY]
    if isinstance(kind, str) and kind not in FORMATS:
        for point in entry_points(group=ENTRY_POINTS):
            FORMATS.setdefault(point.name, point.value)
    if not isinstance(kind, str) or kind not in FORMATS:
        raise BadFile(f"{path}: policies of format {kind!r} are not known here")
    return _import(FORMATS[kind])(path, tensors, metadata)


def distinct(policies: Sequence[NamedPolicy]) -> list[NamedPolicy]:
    """The same policies, each under a name of its own: files that hold equal names are told apart by their paths.

    Beside the shipped teacher, the one of old/teacher.safetensors becomes `teacher@old`. The same policy twice is a
    `BadInput`.
    """
    names = [one.name for one in policies]
    labels: dict[int, str] = {}
    for name in dict.fromkeys(names):
        same = [i for i, other in enumerate(names) if other == name]
        if len({policies[i].sha256 for i in same}) < len(same):
            raise BadInput(f"{name} takes part twice")
        labels |= _labels({i: policies[i] for i in same if len(same) > 1 and not _is_shipped(policies[i])})
    return [replace(one, family=f"{one.family}@{labels[i]}") if i in labels else one for i, one in enumerate(policies)]


def _labels(same: dict[int, NamedPolicy]) -> dict[int, str]:
    """What tells files of one name apart: their own names, their folders', or else their hashes."""
    options = ((one.file.stem, one.file.parent.name) if one.file else ("", "") for one in same.values())
    for option in zip(*options, strict=True):
        words = [re.sub(r"[^\w.-]", "_", word) for word in option]
        if len(set(words)) == len(words) and not {"", *(one.family for one in same.values())} & set(words):
            return dict(zip(same, words, strict=True))
    return {i: one.sha256[:8] for i, one in same.items()}


def _is_shipped(one: NamedPolicy) -> bool:
    return one.file is None or one.file.resolve().is_relative_to(models_folder().resolve())


def _shipped_file(name: str) -> Path | None:
    """Where a shipped model of this name would lie; None if it cannot be the name of one."""
    family, _, seed = name.partition("/")
    if seed and family == CONTROL:
        return models_folder() / CONTROL / f"{seed}.safetensors"
    if seed and find(family):
        return student_file(family, seed)
    return model_file(name) if name == TEACHER or (name and model_file(name).is_file()) else None


def _named(name: str) -> str | Loader | None:
    """How a policy without a file is made; plugins and installed packages are asked where we know none."""
    if name not in NAMES and name.isidentifier():
        load_plugins()
        for point in entry_points(group=NAME_ENTRY_POINTS):
            NAMES.setdefault(point.name, point.value)
    return NAMES.get(name)


def _source(policy: Any) -> dict[str, str]:
    """What tells whether a policy from outside has changed; our own are bound with the package."""
    module = sys.modules.get(type(policy).__module__)
    outside = module is not None and not module.__name__.startswith("blindsave.") and getattr(module, "__file__", None)
    return {"source": sha256_file(Path(str(module.__file__)))} if outside and module is not None else {}


def _import(loader: str | Loader) -> Any:
    if not isinstance(loader, str):
        return loader
    module, _, attribute = loader.partition(":")
    return getattr(import_module(module), attribute)
