"""A run's folder: parameters kept for ever, and the state a killed run continues from.

    config.json                 the configuration
    metrics.jsonl               one line of figures per log interval
    params/STEP.safetensors     all trained parameters, one file per checkpoint, all kept
    state/STEP.safetensors      learner, carry, counters, environments, next observation; the newest two are kept
    replay/FROM-TO.safetensors  transitions of times FROM..TO-1 of every stream; written once, never changed
    latents/STEP.safetensors    the replay's latents at that step, where they were saved

Transitions never change after they are stored, so a checkpoint only appends a segment. Latents do change (write-
back) and are large; where a state has none, they are rebuilt with the current posterior (`refresh.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from blindsave.errors import BadFile
from blindsave.learning.dreamer import replay, tensorfile
from blindsave.learning.dreamer.config import Config
from blindsave.learning.dreamer.nets import Params

STEPS_KEPT = 2
STREAMED = ("observation", "action", "reward", "first", "last", "terminal")
COUNTERS = ("clock", "online_used", "fresh")


def to_numpy(tree: Any) -> dict[str, NDArray]:
    """Copy a tree from the device as named arrays; bfloat16 becomes its bits (uint16).

    A copy even where device and host share memory: training overwrites its arrays while the copy is being written.
    """
    named = {name: np.array(leaf) for name, leaf in tensorfile.flatten(jax.device_get(tree)).items()}
    return {name: v.view(np.uint16) if v.dtype == jnp.bfloat16 else v for name, v in named.items()}


def from_numpy(like: Any, tensors: Mapping[str, NDArray], prefix: str, source: str) -> Any:
    """Invert `to_numpy` for a tree shaped like `like`."""
    found = tensorfile.unflatten(like, tensors, prefix, source)

    def restore(leaf: Any, value: NDArray) -> Any:
        bits = leaf.dtype == jnp.bfloat16
        return jnp.asarray(value.view(jnp.bfloat16) if bits else value)

    return jax.tree.map(restore, like, found)


def prefixed(prefix: str, tensors: Mapping[str, NDArray]) -> dict[str, NDArray]:
    """Put `prefix` before every name."""
    return {prefix + name: value for name, value in tensors.items()}


def without_prefix(prefix: str, tensors: Mapping[str, NDArray]) -> dict[str, NDArray]:
    """Return the arrays whose name starts with `prefix`, without it."""
    return {name.removeprefix(prefix): v for name, v in tensors.items() if name.startswith(prefix)}


def segment(buffer: replay.Buffer, begin: int, end: int) -> dict[str, NDArray]:
    """Copy the transitions of times [begin, end) from the device."""
    return to_numpy({name: getattr(buffer, name)[_at(buffer, begin, end)] for name in STREAMED})


def _at(buffer: replay.Buffer, begin: int, end: int) -> tuple[Any, ...]:
    """Index the slots of times [begin, end), of all environments of all teachers."""
    slot = np.arange(begin, end) % buffer.reward.shape[-1]
    return (slice(None),) * (buffer.reward.ndim - 1) + (slot,)


def load_params(path: Path) -> tuple[Params, Config]:
    """Read a parameter file (all of them, or the acting part alone) as a tree, and its configuration."""
    tensors, metadata = tensorfile.read(path)
    try:
        return tensorfile.nest(tensors), Config.from_json(metadata["config"])
    except (KeyError, TypeError) as error:
        raise BadFile(f"{path} is not a parameter file of this agent") from error


class Folder:
    """The files of one run."""

    def __init__(self, root: Path) -> None:
        self.root = Path(root)

    def path(self, kind: str, step: int) -> Path:
        """Return the file of a kind (`params`, `state`, `latents`) at a step."""
        return self.root / kind / f"{step:09d}.safetensors"

    def steps(self, kind: str) -> list[int]:
        """Return the steps for which a file of this kind exists, in order."""
        return sorted(int(p.stem) for p in (self.root / kind).glob("[0-9]*.safetensors"))

    def save_params(self, step: int, params: Params, config: Config) -> None:
        """Keep the trained parameters of this step."""
        metadata = {"step": step, "config": config.to_json()}
        tensorfile.write(self.path("params", step), to_numpy(params), metadata)

    def load_params(self, step: int) -> tuple[Params, Config]:
        """Read the trained parameters of a step and the configuration they belong to."""
        return load_params(self.path("params", step))

    def save_segment(self, tensors: Mapping[str, NDArray], begin: int, end: int) -> dict[str, Any]:
        """Append the transitions of times [begin, end); returns the entry that a state lists."""
        name = f"{begin:09d}-{end:09d}.safetensors"
        content = tensorfile.write(self.root / "replay" / name, tensors)
        return {"file": name, "from": begin, "to": end, "checksum": content}

    def load_segments(self, buffer: replay.Buffer, entries: list[dict[str, Any]]) -> replay.Buffer:
        """Put all listed segments back into the replay's slots; every file is verified."""
        arrays = {name: np.array(getattr(buffer, name)) for name in STREAMED}
        for entry in entries:
            path = self.root / "replay" / entry["file"]
            tensors, metadata = tensorfile.read(path)
            if metadata["checksum"] != entry["checksum"]:
                raise BadFile(f"{path} is not the segment that the state refers to")
            for name, array in arrays.items():
                array[_at(buffer, entry["from"], entry["to"])] = tensors[name]
        return buffer._replace(**{name: jnp.asarray(array) for name, array in arrays.items()})

    def save_latents(self, step: int, tensors: Mapping[str, NDArray]) -> str:
        """Write h and z of the whole replay; returns the checksum."""
        return tensorfile.write(self.path("latents", step), tensors)

    def load_latents(self, step: int, buffer: replay.Buffer, content: str) -> replay.Buffer:
        """Read h and z back."""
        path = self.path("latents", step)
        tensors, metadata = tensorfile.read(path)
        if metadata["checksum"] != content:
            raise BadFile(f"{path} is not the file that the state refers to")
        found = from_numpy({"h": buffer.h, "z": buffer.z}, tensors, "", str(path))
        return buffer._replace(**found)

    def save_state(self, step: int, tensors: Mapping[str, NDArray], metadata: Mapping[str, Any]) -> None:
        """Write the state and remove all but the newest two; nothing is removed before the new one is safe."""
        tensorfile.write(self.path("state", step), tensors, metadata)
        for kind in ("state", "latents"):
            for old in [s for s in self.steps(kind) if s < step][: 1 - STEPS_KEPT or None]:
                self.path(kind, old).unlink()

    def load_state(self) -> tuple[dict[str, NDArray], dict[str, Any]] | None:
        """Read the newest state, or None for a fresh run; a damaged one is refused, with the way out."""
        steps = self.steps("state")
        if not steps:
            return None
        path = self.path("state", steps[-1])
        try:
            return tensorfile.read(path)
        except BadFile as error:
            before = f"step {steps[-2]}" if len(steps) > 1 else "the beginning"
            raise BadFile(f"{error}; delete it to continue from {before}") from error
