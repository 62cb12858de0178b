"""A policy file that holds only a name: how a policy without weights becomes a study's teacher.

The name is that of a registered policy (`privileged`, or one of a plugin or an installed package). The file also keeps
the hash of its source, and is refused where the policy of this name is another one.
"""

from pathlib import Path
from typing import Any

import numpy as np

from blindsave import tensors
from blindsave.errors import BadFile, BadInput, BlindsaveError
from blindsave.policies import files
from blindsave.policies.base import Policy, can_teach
from blindsave.policies.catalog import load_file, resolve

FORMAT = "blindsave.named"


def named_from(path: Path, _tensors: dict[str, np.ndarray], metadata: dict[str, Any]) -> Policy:
    """The policy that a file names."""
    files.check_fields(path, metadata, {"name": str, "sha256": str})
    found = resolve(metadata["name"])
    if found.file is not None or found.sha256 != metadata["sha256"]:
        raise BadFile(f"{path} names `{metadata['name']}`, which has changed since")
    return found.policy


def teacher_content(source: Path) -> bytes:
    """The bytes of a study's teacher: those of a file, or of one that names a registered policy."""
    if source.is_file():
        return source.read_bytes()
    if not str(source).isidentifier():
        raise BadFile(f"there is no teacher {source}")
    found = resolve(str(source))
    metadata = {files.FORMAT_KEY: FORMAT, "name": found.name, "sha256": found.sha256}
    return tensors.encoded({"nothing": np.zeros(1, np.float32)}, metadata)


def absolute(source: Path) -> Path:
    """A teacher's file wherever this process stands; a name stays a name."""
    return source if str(source).isidentifier() else source.resolve()


def check_teacher(what: str, source: Path) -> None:
    """Refuse a file or a name that is no teacher, by trying one step; the sentence begins with `what`."""
    try:
        by_file = source.is_file() or source.suffix == ".safetensors"
        policy: Any = load_file(source) if by_file else resolve(str(source)).policy
    except BlindsaveError as error:
        kind = BadFile if isinstance(error, BadFile) else BadInput
        raise kind(f"{what}: {error}") from error
    if not can_teach(policy):
        reason = "it can neither be told what another policy did nor the truth"
        raise BadInput(f"{what} cannot be {source}, which holds {policy.name}: {reason}")
    try:
        told = [np.zeros((2, 19), np.float32), *([np.zeros((2, 4))] if getattr(policy, "privileged", False) else [])]
        _, action = policy.step(policy.initial(2), *told)
        sound = np.shape(action) == (2, 2) and np.isfinite(action).all()
    except Exception as error:
        raise BadInput(
            f"{what} cannot be {source}: its first step fails with {type(error).__name__}: {error}"
        ) from error
    if not sound:
        raise BadInput(f"{what} cannot be {source}: its first step gives no two finite numbers")
