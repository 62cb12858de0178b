"""What every other kind of fault does: one panel per kind, by how strong it is."""

import math
from typing import Any

from blindsave.report.analysis import Analysis, NoiseResult, percent
from blindsave.report.figures.curves import errorbar
from blindsave.report.figures.export import Draw, Panel, Plate
from blindsave.report.figures.style import Theme
from blindsave.report.names import level, milliseconds, ordered, title, under
from blindsave.report.registry import figures

COLUMNS = 3
Levels = dict[str, dict[str, str]]
"""By fault: conditions in rising strength, with what is written below them."""


@figures("noise", needs="noise")
def fault_levels(_analysis: Analysis, found: NoiseResult) -> Plate | None:
    """Save rates under every fault that is not noise."""
    faults = levels(found.saves.disturbances)
    if not faults:
        return None
    blackout, rows = max(found.saves.blackouts), math.ceil(len(faults) / COLUMNS)
    panels = tuple(
        (
            Panel(
                f"f6-{i}", draw_faults(found, dict(part), blackout), (8.4, 3.1), _alt(dict(part)), page_size=(8.4, 3.4)
            ),
        )
        for i, part in enumerate(_chunks(list(faults.items()), COLUMNS, rows))
    )
    caption = (
        f"Save rates with the puck hidden for {milliseconds(blackout)} ms, by what else goes wrong and how much of it; "
        "95 % intervals. Every policy meets the same errors."
    )
    return Plate("figure-faults", "When the tracker is wrong", caption, panels)


def levels(disturbances: tuple[str, ...]) -> Levels:
    """The faults of a table, without noise, which has a figure of its own; the clean condition begins each."""
    clean = {"clean": "0"} if "clean" in disturbances else {}
    found: dict[str, list[tuple[float, str, str]]] = {}
    for name in disturbances:
        one = level(name)
        if one is not None and one.fault != "noise":
            found.setdefault(f"{one.fault.replace('_', ' ')}{f' ({one.unit})' if one.unit else ''}", []).append(
                (one.amount, name, f"{one.amount:g}")
            )
    faults = {fault: clean | {name: said for _, name, said in sorted(rows)} for fault, rows in found.items()}
    plain = [name for name in disturbances if name != "clean" and level(name) is None]
    if plain:
        faults["others"] = ({"clean": "clean"} if clean else {}) | {name: under(name) for name in plain}
    return faults


def draw_faults(found: NoiseResult, faults: Levels, blackout: int) -> Draw:
    """A row of panels, one per fault."""
    names = ordered(found.saves.saved)

    def draw(figure: Any, theme: Theme) -> None:
        axes = figure.subplots(1, len(faults), sharey=True, squeeze=False)[0]
        for ax, (fault, conditions) in zip(axes, faults.items(), strict=True):
            for i, policy in enumerate(names):
                cells = [percent(found.rates.rate("all", policy, blackout, d)) for d in conditions]
                x = [at + 0.05 * (i - (len(names) - 1) / 2) for at in range(len(conditions))]
                errorbar(ax, theme, policy, x, cells)
            ax.set_xticks(range(len(conditions)), list(conditions.values()))
            ax.set_title(fault)
            ax.grid(axis="y")
            ax.margins(x=0.12)
        axes[0].set_ylabel("Save rate (%)")
        handles, _ = axes[0].get_legend_handles_labels()
        figure.legend(handles, [title(p) for p in names], loc="outside lower center", ncols=4, handlelength=1.6)

    return draw


def _chunks(items: list[Any], size: int, count: int) -> list[list[Any]]:
    return [items[i * size : (i + 1) * size] for i in range(count)]


def _alt(faults: Levels) -> str:
    return f"Save rates by strength of {', '.join(faults)}."
