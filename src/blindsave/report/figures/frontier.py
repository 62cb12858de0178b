"""Figure 4: save rate against cost."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from blindsave.report.analysis import Analysis, SplitResult
from blindsave.report.figures.export import Draw, Panel, Plate
from blindsave.report.figures.labels import place_labels
from blindsave.report.figures.style import Theme
from blindsave.report.names import milliseconds, ordered, short
from blindsave.report.registry import figures

STRETCH = 1.0
"""How far the stretched scale sees into perfection, in points: 100 % stays finite."""
TICKS = (0, 30, 50, 70, 80, 90, 95, 97, 98, 99, 100)


@figures("cost", needs="main_at_endpoint")
def cost(analysis: Analysis, test: SplitResult) -> Plate | None:
    """Figure 4; latency only where it was measured."""
    if not analysis.results.costs.families.keys() & test.saves.saved.keys():
        return None
    panels = []
    if analysis.results.costs.timed:
        alt = "Save rate at 400 ms over median latency, by family and training seed."
        panels.append(Panel("f4a", draw_frontier(analysis, test, "latency_us", "a"), (4.5, 3.9), alt))
    alt = "Save rate at 400 ms over number of parameters, by family and training seed."
    letter = "b" if panels else "a"
    panels.append(Panel("f4b", draw_frontier(analysis, test, "parameters", letter), (4.5, 3.9), alt))
    caption = (
        "Large symbols: family means; small ones: training seeds (spread a little where their cost is the same). The "
        "dashed line joins the families that no other beats in both cost and saves. The vertical scale is stretched "
        "near 100 %."
    )
    return Plate("figure-4", "Save rate against cost", caption, (tuple(panels),))


def draw_frontier(analysis: Analysis, test: SplitResult, cost: str, letter: str) -> Draw:
    """Save rate at the endpoint over latency (`cost` = "latency_us") or over parameters."""
    costs = {
        policy: value
        for policy in ordered(test.saves.saved)
        if (found := analysis.results.costs.families.get(policy)) and (value := getattr(found, cost)) is not None
    }
    rates = {policy: 100 * test.saves.at(policy, analysis.endpoint).mean(axis=1) for policy in costs}
    means = {policy: (float(x), float(rates[policy].mean())) for policy, x in costs.items()}
    latency = cost == "latency_us"

    def draw(figure: Any, theme: Theme) -> None:
        ax = figure.subplots()
        ax.set_title(f"{letter}   Saves against {'time' if latency else 'size'}")
        ax.set_yscale("function", functions=(stretch, unstretch))
        seeds = _seed_points(analysis, rates, costs, latency)
        ax.plot(*np.array(frontier(means)).T, color=theme.muted, lw=1.2, ls=(0, (4, 3)), alpha=0.8, zorder=1)
        for policy, at in means.items():
            colour = theme.series(policy)
            ax.scatter(*np.array(seeds[policy]).T, s=15, color=colour, alpha=0.5, lw=0, zorder=2)
            ax.scatter(*at, s=70, color=colour, marker=theme.look(policy).marker, ec=theme.ground, lw=0.9, zorder=4)
        _axes(ax, analysis, seeds, latency)
        others = [point for members in seeds.values() for point in members]
        place_labels(ax, means, {p: short(p) for p in means}, {p: theme.series(p) for p in means}, theme.ground, others)

    return draw


def frontier(points: Mapping[str, tuple[float, float]]) -> list[tuple[float, float]]:
    """Points that no other point beats in both cost and saves, by cost."""
    best: list[tuple[float, float]] = []
    for cost, rate in sorted(points.values(), key=lambda point: (point[0], -point[1])):
        if not best or rate > best[-1][1]:
            best.append((cost, rate))
    return best


def _seed_points(
    analysis: Analysis, rates: Mapping[str, np.ndarray], costs: Mapping[str, float], latency: bool
) -> dict[str, list[tuple[float, float]]]:
    """Every trained network: at its own latency where known, else spread a little around the family's cost."""
    found = {}
    width = 0.012 * (max(costs.values()) - min(costs.values()) or 1.0)
    for policy, members in rates.items():
        timing = analysis.results.costs.families[policy].timing
        own = list(timing.by_seed.values()) if latency and timing else []
        spread = [costs[policy] + width * (i - (len(members) - 1) / 2) for i in range(len(members))]
        places = own if len(own) == len(members) else spread
        found[policy] = [(float(x), float(y)) for x, y in zip(places, members, strict=True)]
    return found


def _axes(ax: Any, analysis: Analysis, seeds: Mapping[str, list[tuple[float, float]]], latency: bool) -> None:
    points = [point for members in seeds.values() for point in members]
    lowest = min(y for _, y in points)
    floor = max(0.0, 10 * np.floor((lowest - 8) / 10)) if lowest < 90 else lowest - 2
    ticks = [tick for tick in TICKS if tick >= floor]
    ax.set_ylim(floor, 100.2)
    ax.set_yticks(ticks, [f"{tick}" for tick in ticks])
    ax.minorticks_off()
    ax.set_xlim(0, 1.14 * max(x for x, _ in points))
    ax.set_ylabel(f"Save rate at {milliseconds(analysis.endpoint)} ms (%, stretched scale)")
    ax.set_xlabel("Median time per step (µs)" if latency else "Parameters (thousands)")
    if not latency:
        ax.xaxis.set_major_formatter(lambda value, _: f"{value / 1000:g}")
    ax.grid(axis="y")
    ax.set_axisbelow(True)


def stretch(rate: Any) -> Any:
    """Percent to the stretched scale: the logarithm of what is missing to 100."""
    return -np.log(np.maximum(100 + STRETCH - np.asarray(rate, float), 1e-3))


def unstretch(value: Any) -> Any:
    """Inverse of `stretch`."""
    return 100 + STRETCH - np.exp(-np.asarray(value, float))
