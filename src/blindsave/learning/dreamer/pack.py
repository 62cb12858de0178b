"""Bundle the acting parameters of many checkpoints into few files of limited size, and take them apart again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from blindsave.errors import BadInput
from blindsave.learning.dreamer import agent, tensorfile
from blindsave.learning.dreamer.checkpoint import Folder


def pack(folder: Path, out: Path, *, steps: Sequence[int] | None = None, limit_mib: float = 15.0) -> list[Path]:
    """Write `pack-NN.safetensors` files with the acting part (float32) of the chosen checkpoints.

    Arrays are named `STEP/encoder/layer0/kernel`...; a checkpoint never spans two files.
    """
    kept = Folder(folder)
    wanted = list(steps) if steps is not None else kept.steps("params")
    if not wanted:
        raise BadInput(f"{folder} holds no checkpoints")
    config: dict[str, Any] = {}
    groups: list[dict[str, np.ndarray]] = [{}]
    for step in wanted:
        params, config_of = kept.load_params(step)
        config = config_of.to_json()
        named = {f"{step}/{name}": value for name, value in agent.acting_parameters(params).items()}
        size = sum(v.nbytes for v in [*groups[-1].values(), *named.values()])
        if groups[-1] and size > limit_mib * 2**20:
            groups.append({})
        groups[-1] |= named
    paths = [Path(out) / f"pack-{i:02d}.safetensors" for i in range(len(groups))]
    for path, group in zip(paths, groups, strict=True):
        tensorfile.write(path, group, {"config": config})
    return paths


def unpack(paths: Sequence[Path], folder: Path) -> list[int]:
    """Write every checkpoint of the packs as `params/STEP.safetensors` of a run folder; returns the steps."""
    kept, found = Folder(folder), []
    for path in paths:
        tensors, metadata = tensorfile.read(path)
        for step, named in tensorfile.nest(tensors).items():
            about = {"step": int(step), "config": metadata["config"]}
            tensorfile.write(kept.path("params", int(step)), tensorfile.flatten(named), about)
            found.append(int(step))
    return sorted(found)
