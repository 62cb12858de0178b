"""Named arrays and JSON metadata in safetensors files: the one reader and writer of them.

Equal content gives equal bytes. A file is written whole or not at all, and one that cannot be read is a `BadFile` that
names the file and, where there is one, the leaf.
"""

import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from blindsave.errors import BadFile
from blindsave.store import write_whole

LENGTH_BYTES = 8
DTYPES = {"F32": "<f4", "F64": "<f8", "I8": "i1", "I16": "<i2", "I32": "<i4", "I64": "<i8", "U8": "u1"}
"""Types that can be mapped into memory, by safetensors' name."""


def write(path: str | Path, arrays: Mapping[str, np.ndarray], metadata: Mapping[str, Any] | None = None) -> Path:
    """Write arrays and JSON-ready metadata; every metadata value is kept as a JSON text."""
    return write_whole(path, encoded(arrays, metadata))


def encoded(arrays: Mapping[str, np.ndarray], metadata: Mapping[str, Any] | None = None) -> bytes:
    """The bytes of a file; equal content gives equal bytes."""
    clean = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    if metadata is None:
        return save(clean)
    texts = {key: json.dumps(value, sort_keys=True, allow_nan=False) for key, value in metadata.items()}
    return _in_order(save(clean, metadata=texts))


def read(path: str | Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Read all arrays and the metadata."""
    with _opened(path) as file:
        arrays = {name: _leaf(file, name, path) for name in file.keys()}  # noqa: SIM118 (not a dict)
        return arrays, _metadata(file.metadata() or {}, path)


def mapped(path: str | Path) -> dict[str, np.ndarray]:
    """Map the arrays into memory, read-only, so that opening a file of any size costs nothing."""
    with _opened(path), open(path, "rb") as raw:  # opened: the library checks that the header is in order
        length = int.from_bytes(raw.read(LENGTH_BYTES), "little")
        header = json.loads(raw.read(length))
        data = np.memmap(path, np.uint8, "r")[LENGTH_BYTES + length :]
    return {name: _view(data, name, entry, path) for name, entry in header.items() if name != "__metadata__"}


def checksum(arrays: Mapping[str, np.ndarray]) -> str:
    """SHA-256 (hex) of names, types, shapes and bytes, whatever the order."""
    found = hashlib.sha256()
    for name in sorted(arrays):
        array = np.asarray(arrays[name], order="C")
        found.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        found.update(array.tobytes())
    return found.hexdigest()


def _in_order(raw: bytes) -> bytes:
    """Sort the header: the library writes metadata in random order (without metadata its bytes are always the same)."""
    size = int.from_bytes(raw[:LENGTH_BYTES], "little")
    parsed = json.loads(raw[LENGTH_BYTES : LENGTH_BYTES + size])
    header = json.dumps(parsed, sort_keys=True, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(LENGTH_BYTES, "little") + header + raw[LENGTH_BYTES + size :]


@contextlib.contextmanager
def _opened(path: str | Path) -> Iterator[Any]:
    """The file, checked by the library; whatever is wrong with it is a `BadFile`."""
    try:
        with safe_open(str(path), framework="numpy") as file:
            yield file
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror or error}") from error
    except SafetensorError as error:
        raise BadFile(f"{path} is damaged: it is not a whole safetensors file ({error})") from error


def _view(data: np.ndarray, name: str, entry: Mapping[str, Any], path: str | Path) -> np.ndarray:
    if entry["dtype"] not in DTYPES:
        raise BadFile(f"{path}: `{name}` is {entry['dtype']}, which cannot be mapped into memory")
    begin, end = entry["data_offsets"]
    return data[begin:end].view(DTYPES[entry["dtype"]]).reshape(entry["shape"])


def _leaf(file: Any, name: str, path: str | Path) -> np.ndarray:
    try:
        return file.get_tensor(name)
    except (TypeError, AttributeError) as error:  # bfloat16 and its like
        kind = file.get_slice(name).get_dtype()
        raise BadFile(f"{path}: `{name}` is {kind}, which NumPy does not know") from error


def _metadata(texts: Mapping[str, str], path: str | Path) -> dict[str, Any]:
    metadata = {}
    for key, text in texts.items():
        try:
            metadata[key] = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise BadFile(f"{path}: the metadata field `{key}` is not JSON") from error
    return metadata
