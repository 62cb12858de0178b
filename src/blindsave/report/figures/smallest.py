"""The figure of small policies: how many shots they save by their parameters, encoder and head included."""

from collections.abc import Mapping, Sequence
from typing import Any

from blindsave.draw.family_names import core_and_size, core_title, name_and_widths
from blindsave.evidence.intervals import Contrast
from blindsave.report.analysis import Analysis, SplitResult, percent
from blindsave.report.figures.export import Draw, Panel, Plate
from blindsave.report.figures.frontier import TICKS as RATE_TICKS
from blindsave.report.figures.frontier import frontier, stretch, unstretch
from blindsave.report.figures.style import Theme
from blindsave.report.names import milliseconds, ordered, short
from blindsave.report.registry import figures

RAPTOR = 2084
"""Parameters of RAPTOR, a recurrent policy that flies many quadrotors (Eschmann, Albani and Loianno, 2025)."""
TICKS = (300, 500, 1000, 2000, 5000, 10000, 30000)
DRAWN_AS = {"gru": "gru_n64", "lru": "lru_n32", "mingru": "mingru_n64"}
"""Whose colour and marker a core has here, where it is not called like one of its families."""


@figures("results", needs="main_at_endpoint")
def smallest(analysis: Analysis, test: SplitResult) -> Plate | None:
    """The figure, where families of other widths than the paper's are compared with one reference."""
    compared = against_one(test)
    if not any(name_and_widths(name)[1] for name in compared):
        return None
    ms, reference = milliseconds(analysis.endpoint), next(iter(compared.values())).b
    alt = f"Save rate at {ms} ms over the number of parameters, one line per core."
    panel = Panel("f8", draw_smallest(analysis, test, compared), (6.6, 4.2), alt, page_size=(5.4, 4.0))
    caption = (
        f"Save rate with the puck hidden for {ms} ms by the number of parameters, on a logarithmic scale: means over "
        f"training seeds with 95 % intervals. Filled: equivalent to {short(reference)} within "
        f"{100 * analysis.margin:g} points (the band around its rate). Lines join the families of a core that no "
        f"smaller one beats. The dotted line is the size of RAPTOR, {RAPTOR:,} parameters, an anchor from quadrotors, "
        "not a rival. The vertical scale is stretched near 100 %."
    )
    return Plate("figure-smallest", "Save rate by parameters", caption, ((panel,),))


def against_one(test: SplitResult) -> dict[str, Contrast]:
    """Planned differences by family, where all of them are to one reference; else none."""
    found = [one for one in test.contrasts.get("primary", ()) if one.a != "teacher"]
    return {one.a: one for one in found} if len({one.b for one in found}) == 1 else {}


def draw_smallest(analysis: Analysis, test: SplitResult, compared: Mapping[str, Contrast]) -> Draw:
    """Rates with intervals over parameters at the length of the differences; hollow where equivalence was not shown."""
    first = next(iter(compared.values()))
    reference, blackout = first.b, first.blackout
    sizes = {name: cost.parameters for name, cost in analysis.results.costs.families.items()}
    rates = {
        name: percent(test.principal.rate(name, blackout)) for name in ordered({*compared, reference}) if name in sizes
    }
    cores: dict[str, list[str]] = {}
    for name in rates:
        cores.setdefault(name_and_widths(core_and_size(name)[0])[0], []).append(name)

    def draw(figure: Any, theme: Theme) -> None:
        ax = figure.subplots()
        ax.set_title(f"Save rate at {milliseconds(blackout)} ms by parameters")
        if reference in rates:
            level, reach = rates[reference].value, 100 * analysis.margin
            ax.axhspan(level - reach, level + reach, color=theme.shade, lw=0, zorder=0)
            ax.axhline(level, color=theme.muted, lw=1.0, ls=(0, (4, 2)), zorder=1)
        for core, names in cores.items():
            drawn_as = DRAWN_AS.get(core, core)
            colour, marker = theme.series(drawn_as), theme.look(drawn_as).marker
            best = frontier({name: (sizes[name], rates[name].value) for name in names})
            ax.plot(*zip(*best, strict=True), color=colour, lw=1.5, label=core_title(core), zorder=2)
            for name in names:
                rate, shown = rates[name], compared.get(name)
                filled = shown is None or shown.equivalence.equivalent
                low, high = (rate.value if end is None else end for end in (rate.low, rate.high))
                ends = [[max(0.0, rate.value - low)], [max(0.0, high - rate.value)]]
                style = {"marker": marker, "ms": 6.5, "mew": 1.3, "elinewidth": 1.1, "zorder": 3}
                inside = colour if filled else theme.ground
                ax.errorbar(sizes[name], rate.value, ends, color=colour, mec=colour, mfc=inside, **style)
        lowest = min(rate.low or rate.value for rate in rates.values())
        small_axes(ax, theme, [sizes[name] for name in rates], max(0.0, lowest - 3))
        figure.legend(loc="outside lower center", ncols=4, handlelength=1.8, columnspacing=1.4)

    return draw


def small_axes(ax: Any, theme: Theme, sizes: Sequence[int], floor: float) -> None:
    """Parameters on a logarithmic scale with the anchor, rates on a stretched one from a floor on."""
    ax.set_xscale("log")
    ax.set_yscale("function", functions=(stretch, unstretch))
    ticks = [tick for tick in TICKS if min(sizes) / 1.5 <= tick <= max(sizes) * 1.5]
    ax.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    rates = [tick for tick in RATE_TICKS if tick >= floor]
    ax.set_yticks(rates, [str(tick) for tick in rates])
    ax.minorticks_off()
    ax.set(xlabel="Parameters", xlim=(min(*sizes, RAPTOR) / 1.2, max(*sizes, RAPTOR) * 1.2))
    ax.set(ylabel="Save rate (%, stretched scale)", ylim=(floor, 100.2))
    ax.axvline(RAPTOR, color=theme.alarm, lw=1.1, ls=":", zorder=1)
    words = {"color": theme.alarm, "fontsize": 8.5, "va": "top", "transform": ax.get_xaxis_transform()}
    ax.text(RAPTOR * 1.03, 1.0, f"RAPTOR, {RAPTOR:,}", **words)
    ax.grid(axis="y")
    ax.set_axisbelow(True)
