"""What docs/smallest.md shows: its tables and its picture, from results/smallest and results/smallest-curve alone.

`candidates TABLE` only names the families that the curve's plan asks about, by its rule, from a validation table.
`ship RUN` first puts the finished study of `blindsave study docs/studies/smallest-memory-curve.toml` where
`blindsave verify` finds it.
"""

import json
import sys
from pathlib import Path
from typing import Any

import shipping
import shown

from blindsave.draw.family_names import core_and_size, core_title, name_and_widths
from blindsave.evidence import tables
from blindsave.evidence.hypotheses import SUPPORTED
from blindsave.evidence.intervals import Contrast, holm
from blindsave.evidence.saves import Saves, saves
from blindsave.policies.students.accounting import cost
from blindsave.policies.students.registry import family
from blindsave.report.analysis import Analysis, analyse
from blindsave.report.figures.export import Draw, Panel, Plate
from blindsave.report.figures.frontier import frontier
from blindsave.report.figures.smallest import DRAWN_AS, against_one, draw_smallest, small_axes
from blindsave.report.figures.style import Theme
from blindsave.report.results import read_results
from blindsave.report.sheet import p_value
from blindsave.store import write_whole

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "results" / "smallest"
PAGE, IMAGE = ROOT / "docs" / "smallest.md", ROOT / "docs" / "images" / "smallest.png"
TEACHER, REFERENCE, BLACKOUT = "faithful_7303", "structured_k0", 20
FLOOR = 20
"""Lowest rate drawn, in percent."""
CANDIDATE = RESULTS / TEACHER
"""The first sealed study: one candidate, asked at 400 ms alone."""
CURVE = ROOT / "results" / "smallest-curve" / TEACHER
LENGTHS, SMALL_DEFICIT = (0, 10, 20), 0.005


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


def differences(analysis: Analysis, blackout: int) -> dict[str, Contrast]:
    """Every family less the linear memory of 64 cells, at one length."""
    test = analysis.splits["sealed_test"]
    names = sorted((name for name in test.saves.saved if name not in ("teacher", REFERENCE)), key=parameters)
    return {name: test.principal.difference(name, REFERENCE, blackout, analysis.margin) for name in names}


def curve_table(analysis: Analysis) -> str:
    """The families of the curve at every length: rates, differences, and whether they are equivalent."""
    test, lines = (
        analysis.splits["sealed_test"],
        ["| family | parameters | hidden | saves in % | minus k = 0 | equivalent |"],
    )
    lines.append("|---|---|---|---|---|---|")
    by_length = {length: differences(analysis, length) for length in LENGTHS}
    for name in [*by_length[BLACKOUT], REFERENCE]:
        for length in LENGTHS:
            first = f"`{name}` | {parameters(name):,}" if length == LENGTHS[0] else " | "
            row = f"| {first} | {20 * length} ms | {_percent(test.principal.rate(name, length))} |"
            if name == REFERENCE:
                lines.append(f"{row} | |")
                continue
            found = by_length[length][name]
            told = shown.points(found.estimate, found.low, found.high)
            lines.append(f"{row} {told} | {'yes' if found.equivalence.equivalent else 'no'} |")
    return "\n".join(lines)


def candidates(held: Saves) -> dict[str, str]:
    """Of each core the family that the plan asks about, by the rule at its top; validation shots decide."""
    chosen = {}
    for core, names in by_core(held).items():
        deficits = {
            name: max(float(held.at(REFERENCE, at).mean() - held.at(name, at).mean()) for at in LENGTHS)
            for name in names
            if name != REFERENCE
        }
        enough = [name for name, deficit in deficits.items() if deficit <= SMALL_DEFICIT + 1e-12]
        chosen[core] = min(enough, key=parameters) if enough else min(deficits, key=deficits.__getitem__)
    return chosen


def claims(analysis: Analysis) -> dict[str, dict[str, Any]]:
    """A claim for each core: its candidate at all lengths; the largest p of the three, adjusted over the claims."""
    asked: dict[str, list[Any]] = {}
    for one in analysis.verdicts:
        asked.setdefault(one.contrast.a, []).append(one)
    worst = {name: max(one.contrast.equivalence.p for one in found) for name, found in asked.items()}
    adjusted = dict(zip(worst, holm(list(worst.values())), strict=True))
    return {
        name: {"lengths": [one.contrast.blackout for one in found], "p": worst[name], "p_holm": adjusted[name]}
        | {"supported": all(one.verdict == SUPPORTED for one in found) and adjusted[name] < 0.05}
        for name, found in asked.items()
    }


def claims_table(analysis: Analysis) -> str:
    """What the study decided."""
    lines = [
        "| candidate | parameters | equivalent to k = 0 at 0, 200 and 400 ms | largest p | p, Holm |",
        "|---|---|---|---|---|",
    ]
    for name, one in claims(analysis).items():
        told = "supported" if one["supported"] else "not supported"
        lines.append(f"| `{name}` | {parameters(name):,} | {told} | {p_value(one['p'])} | {p_value(one['p_holm'])} |")
    return "\n".join(lines)


def integers_table() -> str:
    """The candidates in whole numbers against themselves."""
    found = json.loads((CURVE.parent / "integers.json").read_text("utf-8"))["families"]
    heads = " | ".join(f"{20 * length} ms" for length in LENGTHS)
    lines = [f"| saves in %, and minus float | {heads} |", f"|---{'|---' * len(LENGTHS)}|"]
    for name, one in found.items():
        rates = " | ".join(f"{100 * one['rates'][name][str(length)]['estimate']:.1f}" for length in LENGTHS)
        lines.append(f"| `{name}`, float | {rates} |")
        for form in ("int16", "int8"):
            cells = [one["differences"][f"{name}_{form}"][str(length)] for length in LENGTHS]
            assert all(cell["equivalent"] for cell in cells), "the page says that all are equivalent"
            told = " | ".join(shown.points(cell["estimate"], cell["low"], cell["high"]) for cell in cells)
            lines.append(f"| {form} | {told} |")
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


def draw(screened: Saves, analysis: Analysis) -> None:
    """Screening, and the sealed test at its two ends, side by side."""
    test = analysis.splits["sealed_test"]
    panels = [Panel("a", draw_screening(screened), (5.4, 4.2), "Saves by parameters, screening.")]
    for name, length in (("b", 0), ("c", BLACKOUT)):
        drawn = draw_smallest(analysis, test, differences(analysis, length))
        panels.append(Panel(name, drawn, (5.4, 4.2), f"The same, sealed test, hidden for {20 * length} ms."))
    shown.picture(Plate("smallest", "Saves by parameters", "", (tuple(panels),)), IMAGE)


def _percent(interval: Any) -> str:
    return f"{100 * interval.estimate:.1f} [{100 * interval.low:.1f}, {100 * interval.high:.1f}]"


def main(arguments: list[str]) -> None:
    """Ship if asked to; then write tables and picture."""
    if arguments[:1] == ["candidates"]:
        print(json.dumps(candidates(saves(tables.read(Path(arguments[1]))))))
        return
    if arguments[:1] == ["ship"]:
        shipping.ship(Path(arguments[1]) / TEACHER, "smallest-curve")
    screened = saves(tables.read(RESULTS / "screening" / "validation.parquet"))
    curve = analyse(read_results(CURVE))
    page = shown.between(PAGE.read_text("utf-8"), "screening", screening_table(screened))
    page = shown.between(page, "sealed", sealed_table(analyse(read_results(CANDIDATE))))
    page = shown.between(page, "curve", curve_table(curve))
    page = shown.between(page, "claims", claims_table(curve))
    page = shown.between(page, "integers", integers_table())
    write_whole(PAGE, shown.between(page, "board", board_table()))
    draw(screened, curve)


if __name__ == "__main__":
    main(sys.argv[1:])
