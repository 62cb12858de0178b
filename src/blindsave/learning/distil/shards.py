"""Shards: safetensors files that are read by memory map, so that opening a dataset of any size costs nothing."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save

from blindsave.errors import BadFile
from blindsave.store import write_whole

DTYPES = {"F32": "<f4", "F64": "<f8", "I8": "i1", "I16": "<i2", "I32": "<i4", "I64": "<i8"}
LENGTH_BYTES = 8
LONGEST_HEADER = 1 << 20


def write_shard(path: Path, fields: Mapping[str, np.ndarray]) -> None:
    """Write named arrays, whole or not at all."""
    write_whole(path, save({name: np.ascontiguousarray(array) for name, array in fields.items()}))


def read_shard(path: Path) -> dict[str, np.ndarray]:
    """Map a shard's arrays into memory, read-only; a damaged file is named."""
    try:
        size = path.stat().st_size
        with open(path, "rb") as file:
            length = int.from_bytes(file.read(LENGTH_BYTES), "little")
            if not 0 < length <= min(LONGEST_HEADER, size):
                raise ValueError("its header does not fit")
            header = json.loads(file.read(length))
        data = np.memmap(path, np.uint8, "r", offset=LENGTH_BYTES + length) if size > LENGTH_BYTES + length else None
        return {name: _field(data, entry) for name, entry in header.items() if name != "__metadata__"}
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadFile(f"{path} is not a whole shard: {error}") from error


def _field(data: np.ndarray | None, entry: Mapping[str, Any]) -> np.ndarray:
    begin, end = entry["data_offsets"]
    dtype, shape = np.dtype(DTYPES[entry["dtype"]]), tuple(entry["shape"])
    have = 0 if data is None else len(data)
    if not 0 <= begin <= end <= have or end - begin != dtype.itemsize * math.prod(shape):
        raise ValueError("an array does not fit")
    if data is None or begin == end:
        return np.zeros(shape, dtype)
    return data[begin:end].view(dtype).reshape(shape)
