"""The picture of the probes: how far the believed puck is from the true one, the longer it has been hidden."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from blindsave.draw import figure_files as pictures
from blindsave.draw.policy_looks import Look, looks, title

PPO = ("#d98200", "<")
"""In the report it looks like the feed-forward student; here both are drawn, so it needs a look of its own."""
PANELS = (("mean_mm", "Distance to the true puck (mm)"), ("lateral_mm", "Error across the table (mm)"))


def family_curves(policies: Mapping[str, Any], key: str) -> dict[str, tuple[list[int], list[float]]]:
    """Error over hidden time by family, the mean over its seeds."""
    grouped: dict[str, list[Any]] = {}
    for name, figures in policies.items():
        grouped.setdefault(name.partition("/")[0], []).append(figures["by_time"])
    curves = {}
    for family, seeds in grouped.items():
        times = sorted(set.intersection(*({row["hidden_ms"] for row in rows} for rows in seeds)))
        values = [[row[key] for row in rows if row["hidden_ms"] in times] for rows in seeds]
        curves[family] = (times, np.mean(values, axis=0).tolist())
    return curves


def style(family: str, drawn: Mapping[str, Look]) -> tuple[str, str]:
    """Colour and marker of a family among those drawn with it."""
    return PPO if family == "ppo" else (drawn[family].light, drawn[family].marker)


def draw(policies: Mapping[str, Any]) -> Figure:
    """Two panels: distance, and the part of it across the table, which decides between the posts."""
    figure = Figure(figsize=(9.6, 4.0), layout="constrained")
    FigureCanvasAgg(figure)
    drawn = looks(name.partition("/")[0] for name in policies)
    clock = next(iter(policies.values()))["clock"]["by_time"]
    for axes, (key, label) in zip(figure.subplots(1, 2), PANELS, strict=True):
        axes.plot([r["hidden_ms"] for r in clock], [r[key] for r in clock], "--", color="0.55", label="clock alone")
        for family, (times, values) in family_curves(policies, key).items():
            colour, marker = style(family, drawn)
            axes.plot(times, values, color=colour, marker=marker, markersize=4, lw=1.6, label=title(family))
        axes.set(xlabel="Puck hidden for (ms)", ylabel=label, ylim=(0, None))
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", color="0.9", lw=0.7)
        axes.set_axisbelow(True)
    figure.axes[0].legend(frameon=False, fontsize=9)
    figure.suptitle("What is remembered: the hidden puck, read linearly from a policy's memory", fontsize=11)
    return figure


def write(policies: Mapping[str, Any], folder: Path) -> list[Path]:
    """Write the figure as PNG and SVG."""
    return pictures.save(lambda: draw(policies), folder / "probe.png", folder / "probe.svg")
