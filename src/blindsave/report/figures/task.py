"""Figure 1: why the task needs memory."""

from typing import Any

import numpy as np
from matplotlib.patches import Circle, FancyBboxPatch, Rectangle

from blindsave.arena.constants import (
    CONTROL_DT_S,
    GOAL_WIDTH_M,
    MALLET_RADIUS_M,
    PUCK_RADIUS_M,
    TABLE_LENGTH_M,
    TABLE_WIDTH_M,
)
from blindsave.report.analysis import Analysis
from blindsave.report.figures.export import Panel, Plate
from blindsave.report.figures.memory import draw_memory
from blindsave.report.figures.style import Theme
from blindsave.report.registry import figures
from blindsave.task.shots import Shot, shots
from blindsave.task.tracking import BLACKOUT_START

DRAG_PER_S = 0.5
"""The table's drag on the puck: joint damping over mass."""
HALF_X, HALF_Y, GOAL = TABLE_LENGTH_M / 2, TABLE_WIDTH_M / 2, GOAL_WIDTH_M / 2
TWINS = ("structured_k0", "feed_forward")
"""Whose colours the two shots of a pair borrow."""
MALLET_HOME = (-0.86, 0.0)
SIZE, SMALLER = (4.5, 3.5), (3.9, 3.1)


@figures("task")
def why_memory(analysis: Analysis) -> Plate:
    """Figure 1; its first two panels need no results."""
    pair = "Two shots from above that meet where tracking stops and end at opposite posts."
    times = "Time lines: the puck is seen for 100 ms, then hidden for 0 to 500 ms."
    panels = [
        Panel("f1a", draw_pair, SIZE, pair, page_size=(3.9, 2.5)),
        Panel("f1b", draw_timeline, SIZE, times, SMALLER),
    ]
    if analysis.memory:
        alt = "Save rates of the teacher, of the teacher with erased state and of a memoryless policy, seen and hidden."
        panels.append(Panel("f1c", draw_memory(analysis), SIZE, alt, SMALLER))
    caption = (
        "(a) The two shots of a pair reach the same point when tracking stops, then go to opposite sides of the "
        "goal: only what was seen before tells them apart. (b) Tracking stops after 100 ms, and the policy keeps "
        "acting. 400 ms is the main comparison, 500 ms lies beyond training. (c) Save rates of the teacher, of the "
        "teacher whose state is erased when tracking stops, and of a policy without memory, on the same shots; bold: "
        "the paired difference and its 95 % interval."
    )
    return Plate("figure-1", "Why the task needs memory", caption, (tuple(panels),))


def alias_pair() -> tuple[Shot, Shot]:
    """The pair of the calibration split whose two shots part most widely."""
    families: dict[str, list[Shot]] = {}
    for shot in shots("calibration"):
        if shot.alias_family:
            families.setdefault(shot.alias_family, []).append(shot)
    widest = max(families.values(), key=lambda pair: abs(pair[0].angle_deg))
    left, right = sorted(widest, key=lambda shot: shot.target_y)
    return left, right


def flight(shot: Shot, times_s: np.ndarray) -> np.ndarray:
    """Where an untouched puck is, (time, 2): straight, slowed by drag."""
    reach = (1 - np.exp(-DRAG_PER_S * times_s)) / DRAG_PER_S
    return np.array([shot.x, shot.y]) + reach[:, None] * np.array([shot.vx, shot.vy])


def draw_pair(figure: Any, theme: Theme) -> None:
    """Panel a: two shots that meet when tracking stops."""
    ax = figure.subplots()
    ax.set_title("a   Two shots, one sight")
    draw_table(ax, theme)
    onset_s = BLACKOUT_START * CONTROL_DT_S
    colours = [theme.series(name) for name in TWINS]
    for shot, colour in zip(alias_pair(), colours, strict=True):
        times = np.linspace(0, 2, 2001)
        path = flight(shot, times)
        inside = path[:, 0] > -HALF_X
        seen = inside & (times <= onset_s)
        ax.plot(*path[seen].T, color=colour, lw=2.2)
        ax.plot(*path[inside & (times >= onset_s)].T, color=colour, lw=1.7, ls=(0, (3, 2.2)))
        end = path[inside][-1]
        ax.annotate("", end, path[inside][-60], arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.6})
    meeting = flight(alias_pair()[0], np.array([onset_s]))[0]
    ax.add_patch(Circle((meeting[0], 0), PUCK_RADIUS_M, fc=theme.ground, ec=theme.ink, lw=1.2, zorder=5))
    ax.annotate(
        "tracking stops here",
        (meeting[0], -PUCK_RADIUS_M),
        (meeting[0] - 0.02, -0.33),
        ha="center",
        arrowprops={"arrowstyle": "-", "color": theme.muted, "lw": 0.8},
    )
    ax.text(-0.55, 0.15, "opposite posts", ha="center", color=theme.muted)
    _magnifier(ax, theme, colours)


def _magnifier(ax: Any, theme: Theme, colours: list[str]) -> None:
    """The five visible positions of both shots, stretched sideways until they can be told apart."""
    lens = ax.inset_axes((0.525, 0.64, 0.44, 0.235))
    lens.set_facecolor(theme.ground)
    for shot, colour in zip(alias_pair(), colours, strict=True):
        seen = flight(shot, np.arange(BLACKOUT_START + 1) * CONTROL_DT_S)
        lens.plot(*seen[:-1].T, color=colour, marker="o", ms=4, lw=1)
        lens.plot(*seen[-2:].T, color=colour, lw=1, ls=(0, (2, 2)))
    lens.set(xticks=[], yticks=[])
    lens.margins(0.08, 0.18)
    for side in lens.spines.values():
        side.set(visible=True, color=theme.rail)
    lens.set_title("all that is seen, magnified", fontsize=8, weight="normal", pad=3, color=theme.muted)


def draw_table(ax: Any, theme: Theme) -> None:
    """The table from above; the defended goal is on the left."""
    box = (-HALF_X, -HALF_Y), TABLE_LENGTH_M, TABLE_WIDTH_M
    ax.add_patch(Rectangle(*box, fc=theme.ice, ec=theme.rail, lw=2.2))
    ax.plot([0, 0], [-HALF_Y, HALF_Y], color=theme.line, lw=1.4)
    ax.add_patch(Circle((0, 0), 0.15, fill=False, ec=theme.line, lw=1.2))
    for side in (-1, 1):
        ax.plot([side * HALF_X] * 2, [-GOAL, GOAL], color=theme.alarm, lw=4, solid_capstyle="butt")
    ax.add_patch(Circle(MALLET_HOME, MALLET_RADIUS_M, fc=theme.shade, ec=theme.ink, lw=1.3, zorder=4))
    ax.text(MALLET_HOME[0], -0.205, "mallet", ha="center", color=theme.muted, fontsize=8.5)
    ax.set(xlim=(-HALF_X - 0.03, HALF_X + 0.03), ylim=(-HALF_Y - 0.03, HALF_Y + 0.03), aspect="equal", anchor="N")
    ax.axis("off")


def draw_timeline(figure: Any, theme: Theme) -> None:
    """Panel b: what is seen when, by blackout length."""
    ax = figure.subplots()
    ax.set_title("b   See, then act blind")
    lengths = (0, 100, 200, 300, 400, 500)
    end = 760
    for row, hidden in enumerate(lengths):
        chosen = hidden == 400
        _bar(ax, 0, 100, row, theme.series("structured_k0"), 0.55)
        _bar(ax, 100, 100 + hidden, row, theme.hidden, 0.95 if chosen else 0.5)
        _bar(ax, 100 + hidden, end, row, theme.series("structured_k0"), 0.28)
        weight = "bold" if chosen else "normal"
        ax.text(-16, row, f"{hidden} ms", ha="right", va="center", weight=weight)
    ax.text(350, 3.99, "hidden", ha="center", va="center", color=theme.ground, weight="bold", fontsize=9)
    ax.plot([100, 100], [-0.75, 5.62], color=theme.ink, lw=1.1)
    ax.text(50, 5.92, "mallet\nheld", ha="center", va="top", fontsize=8.5, color=theme.muted, linespacing=1.1)
    ax.text(112, 5.92, "policy acts", va="top", fontsize=8.5, color=theme.muted)
    ax.text(end - 14, 0, "visible", ha="right", va="center", fontsize=8.5, color=theme.ink)
    ax.text(-16, -0.82, "blackout", ha="right", va="center", fontsize=8.5, color=theme.muted)
    ax.set(xlim=(-135, end), ylim=(7.15, -1.2), yticks=[], xticks=[0, 100, 300, 500, 700])
    ax.spines["left"].set_visible(False)
    ax.spines["bottom"].set_bounds(0, end)
    ax.set_xlabel("Time since launch (ms)")


def _bar(ax: Any, start: float, stop: float, row: float, colour: str, alpha: float) -> None:
    if stop > start:
        shape = FancyBboxPatch(
            (start + 1.5, row - 0.33),
            stop - start - 3,
            0.66,
            boxstyle="round,pad=0,rounding_size=4",
            mutation_aspect=0.02,
        )
        shape.set(fc=colour, ec="none", alpha=alpha)
        ax.add_patch(shape)
