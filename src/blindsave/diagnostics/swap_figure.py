"""The picture of exchanged memories: what is still saved, the longer the puck had been hidden before."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from blindsave.diagnostics.probe_figure import style
from blindsave.draw.policy_looks import looks

TITLES = {
    "exchange": "Who remembers: memories exchanged between twins",
    "erase": "Who remembers: memories erased",
    "leave": "Is it too late: arms sent to the other post",
    "hold": "Who remembers: arms held until then",
}


def draw(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """A line per policy over the moment of the change, with 95 % intervals; undisturbed rates are dotted."""
    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    names = list(dict.fromkeys(row["policy"] for row in rows))
    drawn = looks([name.partition("/")[0] for name in names])
    for name in names:
        own = [row for row in rows if row["policy"] == name]
        changed = [row for row in own if row["hidden_ms"] is not None]
        times, rates = [row["hidden_ms"] for row in changed], [100 * row["rate"]["estimate"] for row in changed]
        low, high = ([100 * row["rate"][end] for row in changed] for end in ("low", "high"))
        colour, marker = style(name.partition("/")[0], drawn)
        axes.plot(times, rates, color=colour, marker=marker, markersize=4, lw=1.6, label=name)
        axes.fill_between(times, low, high, color=colour, alpha=0.15, lw=0)
        for row in own:
            if row["hidden_ms"] is None:
                axes.axhline(100 * row["rate"]["estimate"], color=colour, lw=0.8, ls=":")
    axes.set(xlabel="Puck hidden for (ms) at that moment", ylabel="Alias shots saved (%)", ylim=(0, 101))
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="0.9", lw=0.7)
    axes.set_axisbelow(True)
    axes.legend(frameon=False, fontsize=9)
    axes.set_title(TITLES[rows[0]["how"]], fontsize=11)
    return figure
