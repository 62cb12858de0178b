"""What every kind of fault does: one panel per kind, by how strong it is; students first, then the classical rivals."""

import math
from collections.abc import Sequence
from typing import Any

from blindsave.policies.classical.rivals import RIVALS
from blindsave.report.analysis import Analysis, NoiseResult, percent
from blindsave.report.figures.curves import errorbar
from blindsave.report.figures.export import Draw, Panel, Plate
from blindsave.report.figures.style import Theme
from blindsave.report.names import level, milliseconds, ordered, title, under
from blindsave.report.registry import figures

COLUMNS, NARROW = 4, 2
"""Panels beside each other: in a file, and on a page, which may be a phone's."""
PANEL_WIDTH = 2.45
"""Inches."""
CLASSICAL = (*RIVALS, "planner", "privileged")
BESIDE_RIVALS = ("structured_k0", "teacher")
"""Who is drawn with the rivals, to compare."""
CLEAN, NONE = "clean", "none"
TITLES = {
    "noise": "noise of every reading (mm)",
    "warp": "warped table (mm)",
    "shift": "camera moved (mm)",
    "latency": "late (20 ms)",
    "outliers": "false readings (%)",
    "bursts": "lost in runs (%)",
    "dropped": "lost one by one (%)",
    "again": "second blackout (20 ms)",
    "puck_drag": "puck drag (times)",
    "glitch": "last reading off (mm)",
    "ghost": "one false reading, at",
}
"""What panels call our own faults; others go by their names."""
LOST = "while hidden"
Levels = dict[str, dict[str, str]]
"""By fault: conditions in rising strength, with what is written below them."""


@figures("noise", needs="noise")
def fault_levels(_analysis: Analysis, found: NoiseResult) -> Plate | None:
    """Students and teacher under every fault, where there is one that is not noise."""
    learned = [name for name in found.saves.saved if name not in CLASSICAL]
    return _plate(found, learned, "figure-faults", "When the tracker is wrong")


@figures("noise", needs="noise")
def rival_levels(_analysis: Analysis, found: NoiseResult) -> Plate | None:
    """The classical rivals under the same faults, where they were played."""
    rivals = [name for name in found.saves.saved if name in CLASSICAL]
    beside = [name for name in BESIDE_RIVALS if name in found.saves.saved]
    return _plate(found, [*rivals, *beside], "figure-fault-rivals", "Classical rivals") if rivals else None


def _plate(found: NoiseResult, policies: Sequence[str], name: str, heading: str) -> Plate | None:
    faults = levels(found.saves.disturbances)
    if not faults or not policies:
        return None
    blackout = max(found.saves.blackouts)
    alt = f"Save rates by strength of {', '.join(faults)}."
    drawing = draw_faults(found, faults, blackout, policies)
    size, page_size = (_size(len(faults), len(policies), columns) for columns in (COLUMNS, NARROW))
    panel = Panel(name.replace("figure-", ""), drawing, size, alt, page_size=page_size)
    caption = (
        f"Save rates with the puck hidden for {milliseconds(blackout)} ms, by what else goes wrong and how much of it; "
        "95 % intervals. Every policy meets the same shots and the same errors."
    )
    return Plate(name, heading, caption, ((panel,),))


def _size(faults: int, policies: int, columns: int) -> tuple[float, float]:
    columns = min(columns, faults)
    legend = 0.25 * math.ceil(policies / _legend_columns(columns)) + 0.2
    return PANEL_WIDTH * columns + 0.4, 2.2 * math.ceil(faults / columns) + legend


def _legend_columns(columns: int) -> int:
    return 3 if columns > NARROW else 2


def levels(disturbances: Sequence[str]) -> Levels:
    """The faults of a table, each beginning with the clean condition; nothing where there is only noise."""
    clean = {CLEAN: NONE} if CLEAN in disturbances else {}
    found: dict[str, list[tuple[float, str, str]]] = {}
    for name in disturbances:
        if (one := level(name)) is not None:
            plain = f"{one.fault.replace('_', ' ')}{f' ({one.unit})' if one.unit else ''}"
            found.setdefault(TITLES.get(one.fault, plain), []).append((one.amount, name, f"{one.amount:g}"))
    faults = {fault: clean | {name: said for _, name, said in sorted(rows)} for fault, rows in found.items()}
    others = [name for name in disturbances if name != CLEAN and level(name) is None]
    if others:
        faults[LOST if set(others) <= {"stale", "frozen"} else "others"] = clean | {
            name: under(name) for name in others
        }
    return {} if set(faults) <= {TITLES["noise"]} else faults


def draw_faults(found: NoiseResult, faults: Levels, blackout: int, policies: Sequence[str]) -> Draw:
    """A panel per fault, one legend for all."""
    names = ordered(policies)

    def draw(figure: Any, theme: Theme) -> None:
        inches = figure.bbox.width / figure.get_figure(root=True).dpi
        columns = max(1, min(int(inches / PANEL_WIDTH), len(faults)))
        grid = figure.subplots(math.ceil(len(faults) / columns), columns, sharey=True, squeeze=False)
        panels = list(grid.flat)
        for ax, (fault, conditions) in zip(panels, faults.items(), strict=False):
            for i, policy in enumerate(names):
                cells = [percent(found.rates.rate("all", policy, blackout, d)) for d in conditions]
                x = [at + 0.04 * (i - (len(names) - 1) / 2) for at in range(len(conditions))]
                errorbar(ax, theme, policy, x, cells)
            ax.set_xticks(range(len(conditions)), list(conditions.values()))
            ax.set_title(fault)
            ax.grid(axis="y")
            ax.margins(x=0.12)
        for ax in panels[len(faults) :]:
            ax.set_visible(False)
        for ax in grid[:, 0]:
            ax.set_ylabel("Save rate (%)")
        handles, _ = panels[0].get_legend_handles_labels()
        style = {"ncols": _legend_columns(columns), "handlelength": 2.6}
        figure.legend(handles, [title(p) for p in names], loc="outside lower center", **style)

    return draw
