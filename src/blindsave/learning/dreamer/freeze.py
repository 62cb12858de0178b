"""Freeze a checkpoint: the acting parameters become the teacher's policy file, bound to the run they come from."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

from blindsave.errors import BadFile
from blindsave.learning.dreamer import checkpoint, tensorfile, validate
from blindsave.learning.dreamer.config import Sizes
from blindsave.policies.dreamer import AgentShape, save_teacher
from blindsave.store import provenance, read_json, sha256_file


def agent_shape(sizes: Sizes) -> AgentShape:
    """Return the part of the network sizes that acting depends on."""
    names = [field.name for field in dataclasses.fields(AgentShape)]
    return AgentShape(**{name: getattr(sizes, name) for name in names})


def selected_step(folder: Path) -> int:
    """Return the checkpoint that the study's rule selects: best sampled validation save rate, then score, then age."""
    path = Path(folder) / "validation.json"
    if not path.exists():
        raise BadFile(f"{path} does not exist; run `blindsave teacher validate` first, or name a step")
    return int(validate.select(read_json(path)["rows"], "sampled")["step"])


def freeze(folder: Path, out: Path, step: int | None = None) -> dict[str, Any]:
    """Write checkpoint `step` (by default the selected one) of a run as a teacher file; returns what was bound."""
    chosen = selected_step(folder) if step is None else step
    source = checkpoint.Folder(folder).path("params", chosen)
    params, config = checkpoint.load_params(source)
    named = {name.replace("/", "."): np.asarray(leaf, np.float32) for name, leaf in tensorfile.flatten(params).items()}
    training = dataclasses.asdict(config.training)
    notes = {
        "source_sha256": sha256_file(source),
        "selected": step is None,
        "training": training,
        "speed": dataclasses.asdict(config.speed),
        "frozen_with": provenance(),
    }
    shape = agent_shape(config.sizes)
    save_teacher(out, named, shape=shape, seed=config.training.seed, step=chosen, notes=notes)
    return {"file": str(out), "step": chosen, "sha256": sha256_file(out), "source_sha256": notes["source_sha256"]}
