"""Teachers of a few hundred parameters: a frozen file that needs no JAX, and the folder of a training."""

from pathlib import Path

import numpy as np

from blindsave.policies.dreamer import AgentShape, save_teacher

TINY = AgentShape(deter=16, hidden=8, categoricals=4, classes=4, blocks=2, units=16)


def frozen_teacher(path: Path, seed: int = 0, notes: dict | None = None) -> Path:
    """Write an untrained teacher and return its path."""
    rng = np.random.default_rng(seed)
    params = {
        name: (rng.normal(0, 0.4, size) + name.endswith("scale")).astype(np.float32)
        for name, size in TINY.shapes.items()
    }
    save_teacher(path, params, shape=TINY, seed=seed, step=60, notes=notes or {})
    return path


def training(folder: Path, steps: tuple[int, ...] = (20, 40), selected: int = 40) -> Path:
    """Write a training's folder with checkpoints and a table that selects one of them; needs JAX."""
    from dreamer_cases import random_params

    from blindsave.learning.dreamer.checkpoint import Folder
    from blindsave.learning.dreamer.config import Config, Sizes, Training
    from blindsave.store import write_json

    sizes = Sizes(19, 2, deter=16, hidden=8, categoricals=4, classes=4, blocks=2, units=16, bins=21)
    for step in steps:
        Folder(folder).save_params(step, random_params(sizes, step), Config(sizes, training=Training(seed=7)))
    rows = [{"step": step, "mode": "sampled", "save_rate": float(step == selected), "score": 0.0} for step in steps]
    write_json(folder / "validation.json", {"rows": rows})
    return folder


def frozen_with_agent(folder: Path) -> Path:
    """Write a teacher frozen from a training, and beside it the agent that it was frozen from; needs JAX."""
    from blindsave.learning.dreamer.freeze import freeze

    run = training(folder / "run")
    file = folder / "with_agent" / "teacher.safetensors"
    freeze(run, file)
    (file.parent / "agent.safetensors").write_bytes((run / "params/000000040.safetensors").read_bytes())
    return file
