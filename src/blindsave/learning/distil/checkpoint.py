"""Checkpoints of a training: everything that decides how it goes on, in one file written whole."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from blindsave import tensors
from blindsave.errors import BadFile, Damaged
from blindsave.learning.distil.history import FIELDS, History
from blindsave.learning.distil.state import State, leaves, rebuild
from blindsave.store import canonical_json

IDENTITY, CONTENT = "identity", "checksum"


def save_checkpoint(path: Path, state: State, history: History, identity: dict[str, Any]) -> None:
    """Write state and history; `identity` says which training they belong to."""
    arrays = {f"state.{i}": np.asarray(leaf) for i, leaf in enumerate(leaves(state))}
    arrays |= {f"history.{name}": getattr(history, name) for name in FIELDS}
    tensors.write(path, arrays, {IDENTITY: identity, CONTENT: tensors.checksum(arrays)})


def load_checkpoint(path: Path, like: State, identity: dict[str, Any]) -> tuple[State, History]:
    """Read a checkpoint of the same training back; any other is refused, and a changed byte is `Damaged`."""
    try:
        arrays, facts = tensors.read(path)
    except BadFile as error:
        raise Damaged(str(error), path) from error
    if facts.get(CONTENT) != tensors.checksum(arrays):
        raise Damaged(f"{path} is damaged: its content is not what its hash says", path)
    if facts.get(IDENTITY) != json.loads(canonical_json(identity)):
        raise BadFile(f"{path} belongs to another training; remove it to start afresh")
    expected = leaves(like)
    for i, leaf in enumerate(expected):
        found = arrays.get(f"state.{i}")
        if found is None or found.shape != leaf.shape or found.dtype != leaf.dtype:
            raise BadFile(f"{path}: the state does not fit the family")
    state = rebuild(like, [arrays[f"state.{i}"] for i in range(len(expected))])
    return state, History(**{name: arrays[f"history.{name}"] for name in FIELDS})
