"""What docs/statistics.md shows of the study with twenty training seeds: tables and picture, from what is shipped.

`draw` first draws small studies from it again (`blindsave bench small-studies`, a minute) and keeps what they found.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import shown

from blindsave.bench.small_studies import played, small_studies
from blindsave.evidence.saves import Saves
from blindsave.report.analysis import Analysis, analyse
from blindsave.report.figures.export import Draw, Panel, Plate
from blindsave.report.figures.style import Theme
from blindsave.report.names import title
from blindsave.report.results import read_results
from blindsave.report.sheet import p_value
from blindsave.report.verdicts import verdict
from blindsave.store import write_json, write_whole

ROOT = Path(__file__).resolve().parents[2]
STUDY = ROOT / "results" / "twenty-seeds" / "faithful_7303"
SMALL = STUDY.parent / "small_studies.json"
PAGE, IMAGE = ROOT / "docs" / "statistics.md", ROOT / "docs" / "images" / "twenty-seeds.png"
BLACKOUT = 20
FAMILIES = ("feed_forward", "finite_stack_10", "structured_k0", "gru_n64")
DIFFERENCES = {"gated - linear": ("gru_n64", "structured_k0"), "linear - window": ("structured_k0", "finite_stack_10")}
SIZES, STUDIES, REPLICATES = (3, 5, 10), 4000, 1000


def draw_small(held: Saves) -> dict[str, Any]:
    """Small studies of both differences, as `blindsave bench small-studies` draws them."""
    found = {
        name: [small_studies(played(held, a, b, BLACKOUT, seeds), STUDIES, REPLICATES) for seeds in SIZES]
        for name, (a, b) in DIFFERENCES.items()
    }
    return {"studies": STUDIES, "replicates": REPLICATES, "differences": found}


def rates_table(analysis: Analysis) -> str:
    """Saves of every family, and of its best and worst students."""
    test = analysis.splits["sealed_test"]
    lines = ["| | saves in % | worst student | best student |", "|---|---|---|---|"]
    for name in (*FAMILIES, "teacher"):
        rate, by_seed = test.principal.rate(name, BLACKOUT), 100 * test.saves.at(name, BLACKOUT).mean(axis=1)
        ends = (f"{by_seed.min():.1f}", f"{by_seed.max():.1f}") if len(by_seed) > 1 else ("", "")
        told = f"{100 * rate.estimate:.1f} [{100 * rate.low:.1f}, {100 * rate.high:.1f}]"
        lines.append(f"| {title(name)} | {told} | {' | '.join(ends)} |")
    return "\n".join(lines)


def verdicts_table(analysis: Analysis) -> str:
    """What was asked before the test was opened, and what came out; equivalence has its own interval and p."""
    lines = ["| asked | difference, 95 % | for equivalence, 90 % | p | verdict |", "|---|---|---|---|---|"]
    for one in analysis.verdicts:
        c, equal = one.contrast, one.contrast.equivalence
        told = f"{100 * c.estimate:+.2f} [{100 * c.low:+.2f}, {100 * c.high:+.2f}]"
        if one.kind == "equivalence":
            ends, p = f"[{100 * equal.low:+.2f}, {100 * equal.high:+.2f}] in ±{100 * equal.margin:g}", equal.p
        else:
            ends, p = "", c.p_holm
        lines.append(f"| {one.statement} | {told} | {ends} | {p_value(p)} | **{verdict(one)}** |")
    return "\n".join(lines)


def small_table(found: dict[str, Any]) -> str:
    """How studies of few seeds would have come out, bootstrap → MRMC."""
    lines = [
        "| difference | seeds | off by (sd), points | half-width, points | hold it, % | call it equivalent, % |",
        "|---|---|---|---|---|---|",
    ]
    for name, sizes in found["differences"].items():
        for one in sizes:
            ways = [one[way] for way in ("bootstrap", "mrmc")]
            cells = [
                " → ".join(f"{100 * way[key]:.{digits}f}" for way in ways)
                for key, digits in (("half_width", 2), ("held", 1), ("equivalent", 1))
            ]
            lines.append(f"| {name} | {one['seeds']} | {100 * one['sd']:.2f} | {' | '.join(cells)} |")
    return "\n".join(lines)


def draw_seeds(analysis: Analysis) -> Draw:
    """Every student of every family that has a memory, with the interval of its family."""

    def draw(figure: Any, theme: Theme) -> None:
        ax, test = figure.subplots(), analysis.splits["sealed_test"]
        ax.set_title("Twenty students each, 2,250 sealed shots hidden for 400 ms")
        names = FAMILIES[1:]
        for place, name in enumerate(names):
            rates, colour = 100 * np.sort(test.saves.at(name, BLACKOUT).mean(axis=1)), theme.series(name)
            whole = test.principal.rate(name, BLACKOUT)
            # Side by side in the order of their rates, so that none hides another.
            ax.scatter(place + np.linspace(-0.28, 0.28, len(rates)), rates, s=22, color=colour, lw=0, alpha=0.75)
            ax.plot([place - 0.36, place + 0.36], [100 * whole.estimate] * 2, color=colour, lw=2)
            ax.fill_between(
                [place - 0.36, place + 0.36], 100 * whole.low, 100 * whole.high, color=colour, alpha=0.15, lw=0
            )
        ax.set_xticks(range(len(names)), [title(name) for name in names])
        ax.set_ylabel("saves, %")

    return draw


def main(arguments: list[str]) -> None:
    """Draw small studies if asked to; then write tables and picture."""
    analysis = analyse(read_results(STUDY))
    if arguments[:1] == ["draw"]:
        write_json(SMALL, draw_small(analysis.splits["sealed_test"].saves))
    page = shown.between(PAGE.read_text("utf-8"), "twenty rates", rates_table(analysis))
    page = shown.between(page, "twenty verdicts", verdicts_table(analysis))
    write_whole(PAGE, shown.between(page, "small studies", small_table(json.loads(SMALL.read_text("utf-8")))))
    panel = Panel("a", draw_seeds(analysis), (6.4, 3.8), "Students of twenty training seeds.")
    shown.picture(Plate("twenty", "Students of twenty training seeds", "", ((panel,),)), IMAGE)


if __name__ == "__main__":
    main(sys.argv[1:])
