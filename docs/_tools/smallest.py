"""What docs/smallest.md shows: its tables and its picture, from results/smallest alone.

`ship RUN` first puts the finished study of `blindsave study docs/studies/smallest-memory.toml` where `blindsave verify`
finds it.
"""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import shown

from blindsave.draw.family_names import core_and_size, core_title, name_and_widths
from blindsave.evidence import tables
from blindsave.evidence.saves import Saves, saves
from blindsave.policies.students.accounting import cost
from blindsave.policies.students.registry import family
from blindsave.report.analysis import Analysis, analyse
from blindsave.report.figures.export import Draw, Panel, Plate
from blindsave.report.figures.frontier import frontier
from blindsave.report.figures.smallest import DRAWN_AS, against_one, draw_smallest, small_axes
from blindsave.report.figures.style import Theme
from blindsave.report.results import read_results
from blindsave.store import write_whole

ROOT = Path(__file__).resolve().parents[2]
MODELS, RESULTS = ROOT / "models" / "smallest", ROOT / "results" / "smallest"
PAGE, IMAGE = ROOT / "docs" / "smallest.md", ROOT / "docs" / "images" / "smallest.png"
TEACHER, REFERENCE, BLACKOUT = "faithful_7303", "structured_k0", 20
FLOOR = 20
"""Lowest rate drawn, in percent."""
STUDY = RESULTS / TEACHER
PARTS = ("datasets", "efficiency", "memory", "test", "validation")
FILES = ("freeze.json", "ledger.jsonl", "spent.json", "splits.json", "statement.md", "../protocol.toml")


def ship(run: Path) -> None:
    """Copy a study to where further studies lie; its teacher is in models/teachers, its guest is here already."""
    source = run / TEACHER
    for name in PARTS:
        shutil.copytree(source / "results" / name, STUDY / name)
    for name in FILES:
        if (path := source / "results" / name).is_file():
            shutil.copy(path, STUDY)
    shutil.copytree(source / "models" / "students", MODELS / TEACHER / "students")


def parameters(name: str) -> int:
    """All of a family's parameters."""
    return cost(family(name)).parameters


def by_core(held: Saves) -> dict[str, list[str]]:
    """Families of each core, the smallest first."""
    found: dict[str, list[str]] = {}
    for name in sorted((name for name in held.saved if name != "teacher"), key=parameters):
        found.setdefault(name_and_widths(core_and_size(name)[0])[0], []).append(name)
    return dict(sorted(found.items(), reverse=True))


def screening_table(held: Saves) -> str:
    """Saves of every family of the screening, by training seed."""
    lines = ["| family | parameters | saves in %, mean | by seed |", "|---|---|---|---|"]
    for name in (name for names in by_core(held).values() for name in names):
        rates = 100 * held.at(name, BLACKOUT).mean(axis=1)
        seeds = ", ".join(f"{rate:.1f}" for rate in rates)
        lines.append(f"| `{name}` | {parameters(name):,} | {rates.mean():.1f} | {seeds} |")
    return "\n".join(lines)


def sealed_table(analysis: Analysis) -> str:
    """Rates and differences of the sealed test, the smallest policy first."""
    test = analysis.splits["sealed_test"]
    compared = against_one(test)
    lines = ["| family | parameters | saves in % | minus k = 0, points | equivalent |", "|---|---|---|---|---|"]
    for name in sorted([*compared, REFERENCE], key=parameters):
        rate, contrast = test.principal.rate(name, BLACKOUT), compared.get(name)
        row = f"| `{name}` | {parameters(name):,} | {_percent(rate)} |"
        if contrast is None:
            lines.append(f"{row} | |")
            continue
        points = shown.points(contrast.estimate, contrast.low, contrast.high)
        lines.append(f"{row} {points} | {'yes' if contrast.equivalence.equivalent else 'no'} |")
    return "\n".join(lines)


def board_table() -> str:
    """Flash, memory and instructions of small policies on an emulated board."""
    found = json.loads((RESULTS / "board.json").read_text("utf-8"))
    lines = ["| policy | processor | flash | state | stack | instructions per step |", "|---|---|---|---|---|---|"]
    for policy, versions in found["policies"].items():
        for numbers in ("float", "int16", "int8"):
            for board, cell in versions[numbers].items():
                keys = ("flash_bytes", "state_bytes", "stack_bytes", "instructions_per_step")
                values = " | ".join(f"{cell[key]:,}" for key in keys)
                lines.append(f"| `{policy}`, {numbers} | {found['boards'][board]['processor']} | {values} |")
    return "\n".join(lines)


def draw_screening(held: Saves) -> Draw:
    """Every student of the screening by its parameters."""

    def draw(figure: Any, theme: Theme) -> None:
        ax = figure.subplots()
        ax.set_title("Screening, validation shots hidden for 400 ms")
        everybody = []
        for core, names in by_core(held).items():
            look, colour = theme.look(DRAWN_AS.get(core, core)), theme.series(DRAWN_AS.get(core, core))
            rates = {name: 100 * held.at(name, BLACKOUT).mean(axis=1) for name in names}
            means = {name: (parameters(name), float(rates[name].mean())) for name in names}
            ax.plot(*zip(*frontier(means), strict=True), color=colour, lw=1.5, label=core_title(core), zorder=2)
            for name in names:
                ax.scatter([parameters(name)] * len(rates[name]), rates[name], s=9, color=colour, alpha=0.6, lw=0)
            ax.scatter(
                *zip(*means.values(), strict=True), s=34, color=colour, marker=look.marker, ec=theme.ground, lw=0.6
            )
            everybody += names
        small_axes(ax, theme, [parameters(name) for name in everybody], FLOOR)
        figure.legend(loc="outside lower center", ncols=4, handlelength=1.8, columnspacing=1.4)

    return draw


def draw(screened: Saves, analysis: Analysis | None) -> None:
    """Screening and, where it was opened, the sealed test, side by side."""
    panels = [Panel("a", draw_screening(screened), (6.0, 4.2), "Saves by parameters, screening.")]
    if analysis is not None:
        test = analysis.splits["sealed_test"]
        panels.append(
            Panel("b", draw_smallest(analysis, test, against_one(test)), (6.0, 4.2), "The same, sealed test.")
        )
    shown.picture(Plate("smallest", "Saves by parameters", "", (tuple(panels),)), IMAGE)


def _percent(interval: Any) -> str:
    return f"{100 * interval.estimate:.1f} [{100 * interval.low:.1f}, {100 * interval.high:.1f}]"


def main(arguments: list[str]) -> None:
    """Ship if asked to; then write tables and picture."""
    if arguments[:1] == ["ship"]:
        ship(Path(arguments[1]))
    screened = saves(tables.read(RESULTS / "screening" / "validation.parquet"))
    analysis = analyse(read_results(STUDY)) if (STUDY / "test").is_dir() else None
    page = shown.between(PAGE.read_text("utf-8"), "screening", screening_table(screened))
    if analysis is not None:
        page = shown.between(page, "sealed", sealed_table(analysis))
    if (RESULTS / "board.json").is_file():
        page = shown.between(page, "board", board_table())
    write_whole(PAGE, page)
    draw(screened, analysis)


if __name__ == "__main__":
    main(sys.argv[1:])
