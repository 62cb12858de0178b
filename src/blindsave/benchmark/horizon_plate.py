"""The memory horizon of many policies: one panel for each kind of memory, so that its sizes can be told apart."""

from collections.abc import Mapping, Sequence
from typing import Any

from blindsave.benchmark.figures import HELD
from blindsave.draw.policy_looks import family_words
from blindsave.report.figures.export import Draw, Panel, Plate
from blindsave.report.figures.labels import stack_labels
from blindsave.report.figures.style import Theme

Curve = Sequence[Mapping[str, Any]]
"""One policy's entries of `diagnostics.horizon.curves`, by hold."""
KINDS = {
    "No memory, and windows": ("feed_forward", "finite_stack"),
    "Linear memories": ("structured", "lru"),
    "Gated memories": ("gru", "mingru", "lstm"),
    "Attention": ("attention",),
}
OTHERS = "Filters, and a planner that is told"
SIZE = (6.4, 3.9)


def plate(curves: Sequence[Mapping[str, Any]]) -> Plate:
    """Alias shots kept out by hold, of everybody."""
    by_policy: dict[str, list[Mapping[str, Any]]] = {}
    for one in sorted(curves, key=lambda entry: entry["hold"]):
        by_policy.setdefault(one["policy"], []).append(one)
    groups: dict[str, dict[str, Curve]] = {}
    for name, curve in by_policy.items():
        groups.setdefault(_kind(name), {})[name] = curve
    panels = [
        Panel(f"h{number}", _drawn(kind, groups[kind]), SIZE, f"Alias shots kept out by hold: {kind.lower()}.")
        for number, kind in enumerate((*KINDS, OTHERS))
        if kind in groups
    ]
    caption = "Alias shots kept out by how long the arm was held after the puck disappeared, with 95 % intervals; "
    caption += "half is chance."
    rows = tuple(tuple(panels[at : at + 2]) for at in range(0, len(panels), 2))
    return Plate("horizon", "How long can it remember?", caption, rows)


def _kind(policy: str) -> str:
    return next((kind for kind, starts in KINDS.items() if policy.startswith(starts)), OTHERS)


def _drawn(kind: str, curves: Mapping[str, Curve]) -> Draw:
    def draw(figure: Any, theme: Theme) -> None:
        ax = figure.subplots()
        ends: dict[str, float] = {}
        for name, curve in curves.items():
            look, colour = theme.look(name), theme.series(name)
            x = [one["hold_ms"] for one in curve]
            low, y, high = ([100 * one["alias_kept_out"][key] for one in curve] for key in ("low", "estimate", "high"))
            ax.fill_between(x, low, high, color=colour, alpha=0.10, lw=0)
            ax.plot(x, y, color=colour, marker=look.marker, markersize=4, lw=1.7, ls=look.line)
            ends[name] = y[-1]
        last = max(one["hold_ms"] for curve in curves.values() for one in curve)
        ax.hlines(50, 0, last, color=theme.muted, lw=0.9, ls=(0, (2, 2)), zorder=1)  # chance
        ax.set_title(kind)
        ax.set(xlabel=HELD, ylabel="Alias shots kept out (%)", ylim=(-3, 104), xlim=(-0.03 * last, 1.6 * last))
        ax.set(yticks=range(0, 101, 20), xticks=sorted({one["hold_ms"] for one in next(iter(curves.values()))}))
        ax.grid(axis="y")
        texts, colours = {n: family_words(n) for n in ends}, {n: theme.series(n) for n in ends}
        stack_labels(ax, ends, 1.03 * last, texts, colours, gap=6.6, top=104.0)

    return draw
