"""Pictures of a run: its learning curve, and the world model's belief about a hidden puck. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from blindsave.diagnostics.openloop import Prediction
from blindsave.draw.figure_files import blank
from blindsave.errors import BadInput
from blindsave.learning.dreamer import metrics

LOSSES = ("loss_observation", "loss_reward", "loss_continue", "loss_dynamics", "loss_critic", "loss_replay_critic")


def learning_curve(folder: Path, table: Sequence[dict[str, Any]] = ()) -> Figure:
    """Draw save rate (training episodes, and validation where given), return, losses and speed over steps."""
    lines = metrics.read(Path(folder) / "metrics.jsonl")
    if not lines:
        raise BadInput(f"{folder} has no metrics to draw")
    figure = blank(11, 7)
    rates, losses, model, behaviour = figure.subplots(2, 2).ravel()
    _rates(rates, lines, table)
    for name in LOSSES:
        _curve(losses, lines, name, name.removeprefix("loss_"))
    losses.set(yscale="log", title="losses", xlabel="environment steps")
    for name in ("kl", "posterior_entropy", "prior_entropy"):
        _curve(model, lines, name, name.replace("_", " "))
    model.set(yscale="log", title="latents (nats)", xlabel="environment steps")
    for name in ("imagined_return", "return", "actor_entropy", "return_scale"):
        _curve(behaviour, lines, name, name.replace("_", " "))
    behaviour.set(title="behaviour", xlabel="environment steps")
    for axes in (rates, losses, model, behaviour):
        axes.grid(alpha=0.3)
        axes.legend(fontsize=7)
    return figure


def _rates(axes: Any, lines: list[dict[str, Any]], table: Sequence[dict[str, Any]]) -> None:
    _curve(axes, lines, "saved", "training, recent episodes")
    for mode in sorted({row["mode"] for row in table}):
        rows = [row for row in table if row["mode"] == mode]
        axes.plot([r["step"] for r in rows], [r["save_rate"] for r in rows], "o-", ms=3, label=f"validation, {mode}")
    axes.set(title="save rate", ylim=(0, 1.02), xlabel="environment steps")


def _curve(axes: Any, lines: list[dict[str, Any]], name: str, label: str) -> None:
    points = [(line["step"], line[name]) for line in lines if name in line]
    if points:
        axes.plot(*zip(*points, strict=True), lw=1, label=label)


def open_loop(predictions: Sequence[Prediction], titles: Sequence[str]) -> Figure:
    """Draw, per episode, the hidden puck's true path and the imagined one with its spread, and the error over time."""
    figure = blank(4 * len(predictions), 6)
    columns = figure.subplots(2, len(predictions), squeeze=False)
    for (path, error), prediction, title in zip(columns.T, predictions, titles, strict=True):
        seen = prediction.share > 0
        mean, std = prediction.mean[seen], prediction.std[seen]
        path.plot(*prediction.truth.T, "k.-", ms=4, label="truth")
        path.errorbar(*mean.T, xerr=std[:, 0], yerr=std[:, 1], fmt="o", ms=3, alpha=0.7, label="imagined")
        path.set(title=title, xlabel="x (m, robot frame)", ylabel="y (m)")
        steps = prediction.first_step + np.arange(len(seen))
        error.plot(steps[seen], prediction.error_mm[seen], "o-", ms=3)
        error.set(xlabel="observation step", ylabel="error of the mean (mm)", ylim=(0, None))
        path.legend(fontsize=7)
        path.grid(alpha=0.3)
        error.grid(alpha=0.3)
    return figure
