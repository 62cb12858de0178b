"""Policy files: safetensors with complete metadata, checked leaf by leaf when read.

Every metadata value is a JSON text. `format` says what kind of policy it is; docs/deploy.md lists the fields.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from blindsave import tensors as tensor_files
from blindsave.errors import BadFile

FORMAT_KEY = "format"


def write_policy(path: Path, tensors: Mapping[str, np.ndarray], metadata: Mapping[str, Any]) -> None:
    """Write named float32 arrays and JSON-ready metadata, whole or not at all."""
    tensor_files.write(path, {name: np.asarray(array, np.float32) for name, array in tensors.items()}, metadata)


def read_policy(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Read arrays and metadata; a file that is not a whole blindsave policy is refused with the reason."""
    if not Path(path).is_file():
        raise BadFile(f"there is no policy file {path}")
    tensors, metadata = tensor_files.read(path)
    for name, array in tensors.items():
        if array.dtype != np.float32:
            raise BadFile(f"{path}: `{name}` is {array.dtype}, not float32")
        if not np.isfinite(array).all():
            raise BadFile(f"{path}: `{name}` holds a value that is not finite")
    if FORMAT_KEY not in metadata:
        raise BadFile(f"{path} is a safetensors file, but not of blindsave: its metadata has no `{FORMAT_KEY}`")
    return tensors, metadata


def check_shapes(path: Path, tensors: Mapping[str, np.ndarray], shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Refuse missing, foreign and wrongly shaped leaves, by name."""
    for name, shape in shapes.items():
        if name not in tensors:
            raise BadFile(f"{path}: `{name}` is missing")
        if tensors[name].shape != tuple(shape):
            raise BadFile(f"{path}: `{name}` has shape {tensors[name].shape}, not {tuple(shape)}")
    for name in tensors:
        if name not in shapes:
            raise BadFile(f"{path}: `{name}` does not belong to this kind of policy")


def check_fields(path: Path, metadata: Mapping[str, Any], fields: Mapping[str, type | tuple[type, ...]]) -> None:
    """Refuse metadata with a missing field or a field of the wrong type, by name."""
    for key, kind in fields.items():
        if key not in metadata:
            raise BadFile(f"{path}: the metadata has no `{key}`")
        value = metadata[key]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise BadFile(f"{path}: the metadata field `{key}` cannot be {json.dumps(value)}")
