"""From a name to a policy: shipped models, policy files and policies without a file.

A name is, in this order: a registered name (a scripted controller), a path of a policy file, FAMILY/SEED for a student
or the memoryless control (`ppo`) among the shipped models, or the bare name of another shipped model (`teacher`).
"""

import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from blindsave.errors import BadFile, BadInput
from blindsave.policies import files
from blindsave.policies.base import Policy
from blindsave.policies.students.registry import find

MODELS_VARIABLE = "BLINDSAVE_MODELS"
"""Environment variable that names another folder of models."""

TEACHER = "teacher"
CONTROL = "ppo"
"""The memoryless control of the memory tests: models/ppo/SEED.safetensors."""

Loader = Callable[..., Policy]

NAMES: dict[str, str | Loader] = {
    "inactive": "blindsave.policies.scripted:INACTIVE",
    "fixed_centre": "blindsave.policies.scripted:FIXED_CENTRE",
}
"""Policies without a file: name -> a function that makes it, or the address "module:attribute" of a policy or of such
a function, imported only when used."""

FORMATS: dict[str, str | Loader] = {
    "blindsave.student": "blindsave.policies.students.student:student_from",
    "blindsave.mlp": "blindsave.policies.mlp:mlp_from",
    "blindsave.teacher": "blindsave.policies.dreamer:teacher_from",
}
"""Kinds of policy files: `format` of the metadata -> loader(path, tensors, metadata) or its address."""


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


def load(name: str | Path) -> Policy:
    """The policy of this name, ready to run."""
    text = str(name)
    if text in NAMES:
        found = _resolve(NAMES[text])
        return found if hasattr(found, "step") else found()
    path = Path(name)
    if path.is_file() or path.suffix == ".safetensors":
        return load_file(path)
    family, _, seed = text.partition("/")
    if seed and (family == CONTROL or find(family)):
        file = student_file(family, seed) if family != CONTROL else models_folder() / CONTROL / f"{seed}.safetensors"
        if not file.is_file():
            raise BadFile(f"no shipped model `{text}` ({file} does not exist)")
        return load_file(file)
    if text and (text == TEACHER or model_file(text).is_file()):
        if not model_file(text).is_file():
            raise BadFile(f"no shipped model `{text}` ({model_file(text)} does not exist)")
        return load_file(model_file(text))
    known = [*NAMES, TEACHER, "FAMILY/SEED", f"{CONTROL}/SEED", "a policy file"]
    raise BadInput(f"there is no policy `{text}`; a policy is {', '.join(known[:-1])} or {known[-1]}")


def load_file(path: Path) -> Policy:
    """The policy in a file, of any known format."""
    tensors, metadata = files.read_policy(path)
    kind = metadata[files.FORMAT_KEY]
    if not isinstance(kind, str) or kind not in FORMATS:
        raise BadFile(f"{path}: policies of format {kind!r} are not known here")
    return _resolve(FORMATS[kind])(path, tensors, metadata)


def _resolve(loader: str | Loader) -> Any:
    if not isinstance(loader, str):
        return loader
    module, _, function = loader.partition(":")
    return getattr(import_module(module), function)
