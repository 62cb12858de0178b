"""The benchmark's pictures: horizon, paper's task and faults, one core in front of the references."""

from collections.abc import Mapping, Sequence
from typing import Any

from blindsave.draw.policy_looks import Look, family_words, looks
from blindsave.report.figures.export import Panel, Plate
from blindsave.report.figures.labels import stack_labels
from blindsave.report.figures.style import Theme

Found = Mapping[str, Any]
SIZE, ON_A_PAGE = (6.4, 4.0), (4.9, 3.6)
HELD = "Arm held after the puck disappeared (ms)"
CURVES = {
    "kept_out": ("horizon", "alias_kept_out", "hold_ms", HELD, "Alias shots kept out (%)"),
    "saved_held": ("horizon", "alias_saved", "hold_ms", HELD, "Alias shots saved (%)"),
    "paper": ("paper", "saved", "hidden_ms", "Puck hidden for (ms)", "Shots saved (%)"),
}
"""Picture: which part, which rate, over what, and the words on its axes."""
ALTS = {
    "kept_out": "Alias shots kept out by how long the arm was held, one curve for every core.",
    "saved_held": "Alias shots saved by how long the arm was held, one curve for every core.",
    "paper": "Shots saved in the paper's task by how long the puck was hidden, one curve for every core.",
    "faults": "Shots saved under tracker faults, one mark for every core and fault.",
}


def looks_of(cores: Sequence[Found]) -> dict[str, Look]:
    """How the cores are drawn together."""
    return looks([one["core"] for one in cores])


def panels(cores: Sequence[Found], own: Sequence[str], name: str = "") -> list[Panel]:
    """All pictures; cores named in `own` are drawn in front. `name` keeps pictures of several pages apart."""
    drawn = [Panel(f"{name}{key}", _curves(cores, own, key), SIZE, ALTS[key], ON_A_PAGE) for key in CURVES]
    height = 1.2 + 0.42 * len(cores[0]["faults"]["faults"])
    faults = Panel(f"{name}faults", _faults(cores, own), (6.4, height), ALTS["faults"], (4.9, height))
    return [*drawn, faults]


def plate(cores: Sequence[Found]) -> Plate:
    """The memory horizon alone, for pages and README."""
    kept, saved = panels(cores, ())[:2]
    caption = "Alias shots kept out, and saved, by how long the arm was held after the puck disappeared."
    return Plate("remember", "How long can it remember?", caption, ((kept, saved),))


def _curves(cores: Sequence[Found], own: Sequence[str], key: str) -> Any:
    part, rate, over, xlabel, ylabel = CURVES[key]

    def draw(figure: Any, theme: Theme) -> None:
        ax = figure.subplots()
        ends: dict[str, float] = {}
        for one in sorted(cores, key=lambda core: core["core"] in own):
            name, front = one["core"], one["core"] in own
            look, colour = theme.look(name), theme.series(name)
            x = one[part][over]
            y = [100 * point["rate"] for point in one[part][rate]]
            width = 2.6 if front else 1.5
            ax.plot(x, y, color=colour, marker=look.marker, markersize=5 if front else 3.5, lw=width, ls=look.line)
            if front:  # every training seed by itself: of two, an interval would say nothing
                for at, point in zip(x, one[part][rate], strict=True):
                    seeds = [100 * good / point["shots"] for good in point["by_seed"]]
                    ax.plot([at] * len(seeds), seeds, ls="", marker="_", markersize=11, color=colour, alpha=0.6)
            ends[name] = y[-1]
        last = max(one[part][over][-1] for one in cores)
        ax.set(xlabel=xlabel, ylabel=ylabel, ylim=(-3, 104), xlim=(-0.03 * last, 1.68 * last), yticks=range(0, 101, 20))
        ax.set_xticks(cores[0][part][over])
        ax.grid(axis="y")
        texts, colours = {n: family_words(n) for n in ends}, {n: theme.series(n) for n in ends}
        stack_labels(ax, ends, 1.03 * last, texts, colours, gap=6.2, top=104.0)

    return draw


def _faults(cores: Sequence[Found], own: Sequence[str]) -> Any:
    names = cores[0]["faults"]["faults"]

    def draw(figure: Any, theme: Theme) -> None:
        ax = figure.subplots()
        for one in sorted(cores, key=lambda core: core["core"] in own):
            name, front = one["core"], one["core"] in own
            look = theme.look(name)
            rates = [100 * point["rate"] for point in one["faults"]["saved"]]
            size = 70 if front else 26
            ax.scatter(rates, range(len(names)), s=size, color=theme.series(name), marker=look.marker, zorder=3 + front)
        ax.set_yticks(range(len(names)), [fault.replace("_", " ") for fault in names])
        ax.set(xlabel="Shots saved, 400 ms hidden (%)", xlim=(-2, 102), ylim=(len(names) - 0.5, -0.5))
        ax.grid(axis="both")

    return draw
