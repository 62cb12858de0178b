"""Bundle the acting parameters of many checkpoints into few files of limited size, and take them apart again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from blindsave.errors import BadInput
from blindsave.learning.dreamer import agent, tensorfile
from blindsave.learning.dreamer.checkpoint import Folder
from blindsave.store import read_json, write_whole


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


def collect(folder: Path, out: Path, *, top: int = 20, limit_mib: float = 15.0) -> list[Path]:
    """Bring together what is worth keeping of a validated run, in few files.

    The acting part of the `top` checkpoints by sampled save rate, all parameters of the winners, configuration,
    metrics and the validation table.
    """
    root, kept = Path(folder), Folder(folder)
    table = read_json(root / "validation.json")
    ranked = sorted(table["rows"], key=lambda row: (-row["save_rate"], -row["score"], row["step"]))
    by_mode = [row["step"] for row in ranked if row["mode"] == "sampled"] or [row["step"] for row in ranked]
    steps = sorted({*by_mode[:top], *table["winner"].values()})
    files = [root / name for name in ("config.json", "metrics.jsonl", "validation.json")]
    files += [kept.path("params", step) for step in sorted(set(table["winner"].values()))]
    copies = [
        write_whole(Path(out) / (f.name if f.parent == root else f"winner-{f.name}"), f.read_bytes()) for f in files
    ]
    return copies + pack(folder, out, steps=steps, limit_mib=limit_mib)


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
