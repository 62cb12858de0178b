"""Validation: one set of parameters over a grid of episodes, all side by side; and which checkpoint wins."""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from blindsave.errors import BadInput
from blindsave.learning.dreamer import model
from blindsave.learning.dreamer.acting import MODES, Acting, Mode
from blindsave.learning.dreamer.checkpoint import Folder
from blindsave.learning.dreamer.config import Config, Speed, Training
from blindsave.learning.dreamer.nets import Params
from blindsave.policies.closed_loop import ClosedLoop
from blindsave.task.conditions import grid
from blindsave.task.episode import Episode
from blindsave.task.outcomes import Outcome
from blindsave.task.results import EpisodeResults
from blindsave.task.shots import shots

LENGTHS = (0, 5, 10, 15, 20)


def inference_config(config: Config) -> Config:
    """Return the configuration of evaluation: float32, the layout of this machine, and nothing of the training."""
    layout = Speed.best(jax.default_backend()).layout
    return dataclasses.replace(config, training=Training(), speed=Speed(dtype="float32", layout=layout))


class Evaluator:
    """Plays the same episodes with any parameters of one configuration; its places are used again and again."""

    def __init__(self, config: Config, episodes: Sequence[Episode], threads: int | None = None) -> None:
        self.episodes, self._config, self._threads = list(episodes), inference_config(config), threads
        self._loop: ClosedLoop | None = None

    def run(self, params: Params, mode: Mode = "deterministic", seed: int = 0) -> EpisodeResults:
        """Play every episode to its end."""
        acting: Any = Acting(model.acting_part(params), self._config, mode, seed)
        if self._loop is None:
            self._loop = ClosedLoop(acting, places=len(self.episodes), threads=self._threads)
        loop = self._loop
        loop.begin(acting, self.episodes)
        while len(loop.running):
            loop.act(loop.ask())
        batch = loop.batch
        return EpisodeResults(batch.outcome.copy(), batch.steps.copy(), batch.first_contact.copy(), batch.score.copy())


def summarise(ended: EpisodeResults, lengths: Sequence[int]) -> dict[str, Any]:
    """Return the save rate overall and by blackout length, mean score and outcome counts of a shot-major grid."""
    saved = ended.saved
    by_length = saved.reshape(-1, len(lengths))
    labels, counts = np.unique(ended.labels, return_counts=True)
    faults = np.isin(ended.outcome, (Outcome.SIMULATOR_FAULT, Outcome.NON_FINITE_STATE))
    return {
        "episodes": len(saved),
        "saves": int(saved.sum()),
        "save_rate": float(saved.mean()),
        "score": float(ended.reward.mean()),
        "steps": float(ended.steps.mean()),
        "faults": int(faults.sum()),
        "save_rate_by_length": {str(k): float(by_length[:, i].mean()) for i, k in enumerate(lengths)},
        "outcomes": {str(label): int(c) for label, c in zip(labels, counts, strict=True)},
    }


def validate(
    folder: Path,
    *,
    split: str = "validation",
    lengths: Sequence[int] = LENGTHS,
    modes: Sequence[Mode] = MODES,
    steps: Sequence[int] | None = None,
    shot_count: int | None = None,
    threads: int | None = None,
    seed: int = 0,
    seconds: float | None = None,
    known: Sequence[dict[str, Any]] = (),
    report: Any = None,
) -> list[dict[str, Any]]:
    """Evaluate the kept checkpoints of a run; returns one row per (step, mode), in order.

    Rows in `known` are taken over; after `seconds` no further evaluation is begun.
    """
    kept = Folder(folder)
    wanted = list(steps) if steps is not None else kept.steps("params")
    if not wanted:
        raise BadInput(f"{folder} holds no checkpoints")
    rows = {(r["step"], r["mode"]): r for r in known}
    begun = time.monotonic()
    for step in wanted:
        missing: list[Mode] = [mode for mode in modes if (step, mode) not in rows]
        if not missing or (seconds is not None and time.monotonic() - begun > seconds):
            continue
        params, config = kept.load_params(step)
        evaluator = _evaluator(inference_config(config), split, shot_count, tuple(lengths), threads)
        for mode in missing:
            row = {"step": step, "mode": mode, "split": split}
            rows[step, mode] = row | summarise(evaluator.run(params, mode, seed), lengths)
            if report:
                report(rows[step, mode])
    return [rows[key] for key in sorted(rows)]


@functools.lru_cache(maxsize=1)
def _evaluator(
    config: Config, split: str, shot_count: int | None, lengths: tuple[int, ...], threads: int | None
) -> Evaluator:
    """Return the evaluator of a grid; the latest one is kept, since the next checkpoint or teacher uses it too."""
    return Evaluator(config, grid(shots(split)[:shot_count], lengths), threads)


def select(rows: Sequence[dict[str, Any]], mode: Mode = "sampled") -> dict[str, Any]:
    """Return the winning row: highest save rate, then highest mean score, then the earlier step."""
    candidates = [row for row in rows if row["mode"] == mode]
    if not candidates:
        raise BadInput(f"the table has no rows of mode {mode!r}")
    return max(candidates, key=lambda row: (row["save_rate"], row["score"], -row["step"]))
