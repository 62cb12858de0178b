"""Checkpoints of a training: everything that decides how it goes on, in one file written whole."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from blindsave.errors import BadFile, Damaged
from blindsave.learning.distil.history import FIELDS, History
from blindsave.learning.distil.state import State, leaves, rebuild
from blindsave.store import canonical_json, write_whole

IDENTITY, CONTENT = "identity", "sha256"


def save_checkpoint(path: Path, state: State, history: History, identity: dict[str, Any]) -> None:
    """Write state and history; `identity` says which training they belong to."""
    arrays = {f"state.{i}": np.asarray(leaf) for i, leaf in enumerate(leaves(state))}
    arrays |= {f"history.{name}": getattr(history, name) for name in FIELDS}
    texts = {IDENTITY: canonical_json(identity), CONTENT: _sha256(arrays)}
    write_whole(path, save(arrays, metadata=texts))


def load_checkpoint(path: Path, like: State, identity: dict[str, Any]) -> tuple[State, History]:
    """Read a checkpoint of the same training back; any other is refused, and a changed byte is `Damaged`."""
    try:
        with safe_open(str(path), framework="numpy") as file:
            texts = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
    except (SafetensorError, OSError) as error:
        raise Damaged(f"{path} is not a whole checkpoint ({error})", path) from error
    if texts.get(CONTENT) not in (None, _sha256(arrays)):  # those of early versions carry no hash
        raise Damaged(f"{path} is damaged: its content is not what its hash says", path)
    if json.loads(texts.get(IDENTITY, "null")) != json.loads(canonical_json(identity)):
        raise BadFile(f"{path} belongs to another training; remove it to start afresh")
    expected = leaves(like)
    for i, leaf in enumerate(expected):
        found = arrays.get(f"state.{i}")
        if found is None or found.shape != leaf.shape or found.dtype != leaf.dtype:
            raise BadFile(f"{path}: the state does not fit the family")
    state = rebuild(like, [arrays[f"state.{i}"] for i in range(len(expected))])
    return state, History(**{name: arrays[f"history.{name}"] for name in FIELDS})


def _sha256(arrays: Mapping[str, np.ndarray]) -> str:
    found = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        found.update(f"{name} {array.dtype.str} {array.shape};".encode("ascii"))
        found.update(array.tobytes())
    return found.hexdigest()
