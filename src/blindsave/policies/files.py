"""Policy files: safetensors with complete metadata, checked leaf by leaf when read.

Every metadata value is a JSON text. `format` says what kind of policy it is; docs/deploy.md lists the fields.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from blindsave.errors import BadFile
from blindsave.store import write_whole

FORMAT_KEY = "format"


def write_policy(path: Path, tensors: Mapping[str, np.ndarray], metadata: Mapping[str, Any]) -> None:
    """Write named float32 arrays and JSON-ready metadata, whole or not at all."""
    arrays = {name: np.ascontiguousarray(array, dtype=np.float32) for name, array in tensors.items()}
    texts = {key: json.dumps(value, sort_keys=True, allow_nan=False) for key, value in metadata.items()}
    write_whole(Path(path), _in_order(save(arrays, metadata=texts)))


def _in_order(raw: bytes) -> bytes:
    """Sort the header, which the library writes in random order, so that equal content is equal bytes."""
    size = int.from_bytes(raw[:8], "little")
    header = json.dumps(json.loads(raw[8 : 8 + size]), sort_keys=True, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + raw[8 + size :]


def read_policy(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Read arrays and metadata; a file that is not a whole blindsave policy is refused with the reason."""
    if not Path(path).is_file():
        raise BadFile(f"there is no policy file {path}")
    try:
        with safe_open(str(path), framework="numpy") as file:
            texts = file.metadata()
            tensors = {name: _read_leaf(file, name, path) for name in file.keys()}  # noqa: SIM118 (not a dict)
    except (SafetensorError, OSError) as error:
        raise BadFile(f"{path} is not a whole safetensors file ({error})") from error
    return tensors, _metadata(texts, path)


def _read_leaf(file: Any, name: str, path: Path) -> np.ndarray:
    if file.get_slice(name).get_dtype() != "F32":
        raise BadFile(f"{path}: `{name}` is {file.get_slice(name).get_dtype()}, not float32")
    array = file.get_tensor(name)
    if not np.isfinite(array).all():
        raise BadFile(f"{path}: `{name}` holds a value that is not finite")
    return array


def _metadata(texts: Mapping[str, str] | None, path: Path) -> dict[str, Any]:
    if not texts or FORMAT_KEY not in texts:
        raise BadFile(f"{path} is a safetensors file, but not of blindsave: its metadata has no `{FORMAT_KEY}`")
    metadata = {}
    for key, text in texts.items():
        try:
            metadata[key] = json.loads(text)
        except ValueError as error:
            raise BadFile(f"{path}: the metadata field `{key}` is not JSON") from error
    return metadata


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
