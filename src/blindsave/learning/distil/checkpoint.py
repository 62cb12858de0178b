"""Checkpoints of a training: everything that decides how it goes on, in one file written whole."""

import json
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from blindsave.errors import BadFile
from blindsave.learning.distil.epoch import State
from blindsave.learning.distil.history import FIELDS, History
from blindsave.store import canonical_json, write_whole

IDENTITY = "identity"


def save_checkpoint(path: Path, state: State, history: History, identity: dict[str, Any]) -> None:
    """Write state and history; `identity` says which training they belong to."""
    arrays = {f"state.{i}": np.asarray(leaf) for i, leaf in enumerate(jax.tree.leaves(state))}
    arrays |= {f"history.{name}": getattr(history, name) for name in FIELDS}
    write_whole(path, save(arrays, metadata={IDENTITY: canonical_json(identity)}))


def load_checkpoint(path: Path, like: State, identity: dict[str, Any]) -> tuple[State, History]:
    """Read a checkpoint of the same training back; any other is refused."""
    try:
        with safe_open(str(path), framework="numpy") as file:
            texts = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
    except (SafetensorError, OSError) as error:
        raise BadFile(f"{path} is not a whole checkpoint ({error})") from error
    if json.loads(texts.get(IDENTITY, "null")) != json.loads(canonical_json(identity)):
        raise BadFile(f"{path} belongs to another training; remove it to start afresh")
    leaves, tree = jax.tree.flatten(like)
    for i, leaf in enumerate(leaves):
        found = arrays.get(f"state.{i}")
        if found is None or found.shape != leaf.shape or found.dtype != leaf.dtype:
            raise BadFile(f"{path}: the state does not fit the family")
    state = jax.tree.unflatten(tree, [jnp.asarray(arrays[f"state.{i}"]) for i in range(len(leaves))])
    return state, History(**{name: arrays[f"history.{name}"] for name in FIELDS})
