"""Labels that do not overlap: stacked beside the ends of curves, or placed around points."""

from collections.abc import Mapping, Sequence
from typing import Any

AROUND = ((0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1))
REACH = (11.0, 20.0, 30.0, 42.0)
"""Distances in points to try, nearest first."""


def stack_labels(
    ax: Any,
    ends: Mapping[str, float],
    x: float,
    texts: Mapping[str, str],
    colours: Mapping[str, str],
    gap: float,
    top: float | None = None,
) -> None:
    """Write one label per curve at its end; neighbours are moved apart to at least `gap` of the y axis, below `top`."""
    order = sorted(ends, key=lambda name: ends[name])
    places = [ends[name] for name in order]
    for _ in range(200):
        moved = False
        for i in range(1, len(places)):
            lack = gap - (places[i] - places[i - 1])
            if lack > 1e-6:
                places[i - 1] -= lack / 2
                places[i] += lack / 2
                moved = True
        if not moved:
            break
    if top is not None:
        for i in reversed(range(len(places))):
            places[i] = min(places[i], top - gap * (len(places) - 1 - i))
    for name, y in zip(order, places, strict=True):
        ax.text(x, y, texts[name], color=colours[name], va="center", weight="bold", fontsize=9)


def place_labels(
    ax: Any,
    points: Mapping[str, tuple[float, float]],
    texts: Mapping[str, str],
    colours: Mapping[str, str],
    ground: str,
    others: Sequence[tuple[float, float]] = (),
) -> None:
    """Write a label near every point where it covers no other label and as few points as possible."""
    figure = ax.figure.get_figure(root=True)
    figure.draw_without_rendering()  # settles the layout, so that sizes on paper are known
    renderer = figure.canvas.get_renderer()
    unit = figure.dpi / 72
    frame = ax.get_window_extent(renderer)
    dots = [tuple(ax.transData.transform(at)) for at in (*points.values(), *others)]
    taken: list[tuple[float, float, float, float]] = []
    for name, at in points.items():
        x, y = ax.transData.transform(at)
        probe = ax.text(*at, texts[name], fontsize=9, weight="bold")
        box = probe.get_window_extent(renderer)
        probe.remove()
        half = box.width / 2, box.height / 2
        spots = [(x + dx * (r * unit + half[0]), y + dy * (r * unit + half[1]), r) for r in REACH for dx, dy in AROUND]
        rivals = [tuple(ax.transData.transform(other)) for key, other in points.items() if key != name]
        best = min(spots, key=lambda spot: _badness(spot, half, taken, dots, frame) + _mistaken(spot, (x, y), rivals))
        taken.append((best[0] - half[0], best[1] - half[1], best[0] + half[0], best[1] + half[1]))
        data = ax.transData.inverted().transform(best[:2])
        line = {"arrowstyle": "-", "color": colours[name], "lw": 0.7, "shrinkA": 1, "shrinkB": 5}
        arrow = line if best[2] > REACH[0] or _mistaken(best, (x, y), rivals) else None
        style = {"color": colours[name], "fontsize": 9, "weight": "bold", "ha": "center", "va": "center"}
        backing = {"fc": ground, "ec": "none", "alpha": 0.75, "pad": 0.8}
        ax.annotate(texts[name], at, data, arrowprops=arrow, bbox=backing, **style)


def _badness(
    spot: tuple[float, float, float],
    half: tuple[float, float],
    taken: Sequence[tuple[float, float, float, float]],
    dots: Sequence[tuple[float, ...]],
    frame: Any,
) -> float:
    """Overlap costs most, leaving the frame nearly as much, covering a point less, distance least."""
    left, bottom, right, top = spot[0] - half[0], spot[1] - half[1], spot[0] + half[0], spot[1] + half[1]
    clash = sum(left < r + 4 and at_left - 4 < right and bottom < t + 2 and b - 2 < top for at_left, b, r, t in taken)
    outside = max(0, frame.x0 - left) + max(0, right - frame.x1) + max(0, frame.y0 - bottom) + max(0, top - frame.y1)
    covered = sum(left - 4 < x < right + 4 and bottom - 4 < y < top + 4 for x, y in dots)
    return 1000 * clash + 50 * min(outside, 15) + 60 * covered + spot[2]


def _mistaken(spot: tuple[float, float, float], own: tuple[float, float], rivals: Sequence[tuple[float, ...]]) -> float:
    """A label nearer to another point than to its own would be read as the other's."""
    reach = (spot[0] - own[0]) ** 2 + (spot[1] - own[1]) ** 2
    return 40.0 * sum((spot[0] - x) ** 2 + (spot[1] - y) ** 2 < reach for x, y in rivals)
