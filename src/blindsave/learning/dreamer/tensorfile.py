"""Named arrays in a safetensors file that knows its own checksum, and trees of arrays as named arrays."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from blindsave.errors import BadFile, BlindsaveError
from blindsave.store import write_whole

Tensors = Mapping[str, NDArray]


def flatten(tree: Any) -> dict[str, Any]:
    """Return the leaves of a tree under path names such as `encoder/layer0/kernel`."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {"/".join(_name(key) for key in path): leaf for path, leaf in leaves}


def unflatten(like: Any, tensors: Tensors, prefix: str = "", source: str = "the file") -> Any:
    """Rebuild a tree shaped like `like` from named arrays; a missing or misshapen leaf is named."""
    leaves, structure = jax.tree_util.tree_flatten_with_path(like)
    found = []
    for path, leaf in leaves:
        name = prefix + "/".join(_name(key) for key in path)
        value = tensors.get(name)
        if value is None:
            raise BadFile(f"{source} lacks the array {name}")
        if value.shape != leaf.shape:
            raise BadFile(f"{source}: {name} has shape {value.shape}, expected {leaf.shape}")
        found.append(value)
    return jax.tree.unflatten(structure, found)


def nest(tensors: Tensors) -> dict[str, Any]:
    """Turn path names into nested dictionaries."""
    tree: dict[str, Any] = {}
    for path, value in tensors.items():
        *parents, leaf = path.split("/")
        here = tree
        for parent in parents:
            here = here.setdefault(parent, {})
        here[leaf] = value
    return tree


def _name(key: Any) -> str:
    return str(getattr(key, "key", getattr(key, "name", getattr(key, "idx", key))))


def checksum(tensors: Tensors) -> str:
    """Return the SHA-256 of names, types, shapes and bytes."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        value = np.asarray(tensors[name], order="C")
        digest.update(f"{name} {value.dtype.str} {value.shape}\n".encode())
        digest.update(value.data if value.ndim and value.size else value.tobytes())
    return digest.hexdigest()


def write(path: Path, tensors: Tensors, metadata: Mapping[str, Any] | None = None) -> str:
    """Write the file whole or not at all, with JSON metadata; returns the content's checksum."""
    clean = {name: np.asarray(value, order="C") for name, value in tensors.items()}
    content = checksum(clean)
    texts = {name: json.dumps(value, allow_nan=False) for name, value in (metadata or {}).items()}
    try:
        write_whole(path, save(clean, texts | {"checksum": json.dumps(content)}))
    except OSError as error:
        reason = error.strerror or error
        raise BlindsaveError(f"{path} could not be written ({reason}); earlier checkpoints are intact") from error
    return content


def read(path: Path) -> tuple[dict[str, NDArray], dict[str, Any]]:
    """Read and verify a file; returns (arrays, metadata)."""
    try:
        raw = Path(path).read_bytes()
        tensors = load(raw)
        size = int.from_bytes(raw[:8], "little")
        texts = json.loads(raw[8 : 8 + size]).get("__metadata__", {})
        metadata = {name: json.loads(text) for name, text in texts.items()}
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror or error}") from error
    except (SafetensorError, ValueError) as error:
        raise BadFile(f"{path} is damaged: {error}") from error
    if checksum(tensors) != metadata.get("checksum"):
        raise BadFile(f"{path} is damaged: its content does not match its checksum")
    return tensors, metadata
