"""Named arrays in a safetensors file that knows its own checksum, and trees of arrays as named arrays."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
from numpy.typing import NDArray

from blindsave import tensors
from blindsave.errors import BadFile, BlindsaveError

Tensors = Mapping[str, NDArray]


def flatten(tree: Any) -> dict[str, Any]:
    """Return the leaves of a tree under path names such as `encoder/layer0/kernel`."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {"/".join(_name(key) for key in path): leaf for path, leaf in leaves}


def unflatten(like: Any, arrays: Tensors, prefix: str = "", source: str = "the file") -> Any:
    """Rebuild a tree shaped like `like` from named arrays; a missing or misshapen leaf is named."""
    leaves, structure = jax.tree_util.tree_flatten_with_path(like)
    found = []
    for path, leaf in leaves:
        name = prefix + "/".join(_name(key) for key in path)
        value = arrays.get(name)
        if value is None:
            raise BadFile(f"{source} lacks the array {name}")
        if value.shape != leaf.shape:
            raise BadFile(f"{source}: {name} has shape {value.shape}, expected {leaf.shape}")
        found.append(value)
    return jax.tree.unflatten(structure, found)


def nest(arrays: Tensors) -> dict[str, Any]:
    """Turn path names into nested dictionaries."""
    tree: dict[str, Any] = {}
    for path, value in arrays.items():
        *parents, leaf = path.split("/")
        here = tree
        for parent in parents:
            here = here.setdefault(parent, {})
        here[leaf] = value
    return tree


def _name(key: Any) -> str:
    return str(getattr(key, "key", getattr(key, "name", getattr(key, "idx", key))))


def write(path: Path, arrays: Tensors, metadata: Mapping[str, Any] | None = None) -> str:
    """Write the file whole or not at all, with JSON metadata; returns the content's checksum."""
    content = tensors.checksum(arrays)
    try:
        tensors.write(path, arrays, {**(metadata or {}), "checksum": content})
    except OSError as error:
        reason = error.strerror or error
        raise BlindsaveError(f"{path} could not be written ({reason}); earlier checkpoints are intact") from error
    return content


def read(path: Path) -> tuple[dict[str, NDArray], dict[str, Any]]:
    """Read and verify a file; returns (arrays, metadata)."""
    arrays, metadata = tensors.read(path)
    if tensors.checksum(arrays) != metadata.get("checksum"):
        raise BadFile(f"{path} is damaged: its content does not match its checksum")
    return arrays, metadata
