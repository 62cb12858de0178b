"""Ship a finished fault study, and write what docs/faults.md shows of it.

With the folder of `blindsave study docs/studies/faults.toml` the study is copied to results/faults and models/faults;
then, and without a folder only, the page's tables and pictures are made again from what is shipped there.
"""

import sys
from pathlib import Path

from shipping import ship
from shown import between, picture, points

from blindsave.evidence import tables
from blindsave.evidence.saves import Saves, saves
from blindsave.report.analysis import Analysis, analyse
from blindsave.report.figures.export import Plate
from blindsave.report.figures.fault_map import fault_map
from blindsave.report.figures.faults import fault_levels, rival_levels
from blindsave.report.results import read_results
from blindsave.report.sheet import p_value
from blindsave.report.verdicts import verdict
from blindsave.store import write_whole

ROOT = Path(__file__).resolve().parents[2]
TEACHER = "faithful_7303"
SHIPPED = ROOT / "results" / "faults" / TEACHER
PAGE, IMAGES = ROOT / "docs" / "faults.md", ROOT / "docs" / "images"
PICTURES = {"faults": fault_levels, "fault-rivals": rival_levels, "fault-map": fault_map}
STUDENTS = ("structured_k0", "gru_n64", "finite_stack_10")
FALSE = ("ghost_0", "ghost_2", "ghost_4", "outliers_3percent", "outliers_10percent")
COLUMNS = {
    **{name: f"`{name}`" for family in STUDENTS for name in (family, f"{family}_naive")},
    **{name: f"`{name}`" for name in ("teacher", "differences", "least_squares", "kalman", "kalman_gated", "bayes")},
}


def rates(held: Saves, blackout: int = 20) -> str:
    """Save rates as a table of Markdown: a row per condition, a column per policy."""
    shown = {name: said for name, said in COLUMNS.items() if name in held.saved}
    lines = [f"| | {' | '.join(shown.values())} |", f"|---|{'---|' * len(shown)}"]
    for condition in held.disturbances:
        cells = [f"{100 * held.at(name, blackout, condition).mean():.1f}" for name in shown]
        lines.append(f"| `{condition}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def verdicts(found: Analysis) -> str:
    """Every hypothesis with its difference, interval and verdict."""
    lines = ["| hypothesis | compared | under | difference | p, Holm | verdict |", "|---|---|---|---|---|---|"]
    for one in found.verdicts:
        c = one.contrast
        low, high = (c.equivalence.low, c.equivalence.high) if one.kind == "equivalence" else (c.low, c.high)
        sign = "=" if one.kind == "equivalence" else ">"
        p = "" if one.kind == "equivalence" else p_value(c.p_holm)
        asked = f"| {one.id}: {one.statement} | `{c.a}` {sign} `{c.b}` | `{c.disturbance}` "
        lines.append(f"{asked}| {points(c.estimate, low, high)} | {p} | **{verdict(one)}** |")
    return "\n".join(lines)


def post_hoc(found: Analysis) -> str:
    """The gate less the linear memory where one reading, or every tenth, is false; asked after the test was open."""
    assert found.noise is not None
    lines = [f"| | {' | '.join(f'`{name}`' for name in FALSE)} |", f"|---|{'---|' * len(FALSE)}"]
    for said, a, b in (("trained", *STUDENTS[1::-1]), ("naive", *(f"{name}_naive" for name in STUDENTS[1::-1]))):
        cells = [found.noise.rates.difference("all", a, b, 20, name) for name in FALSE]
        told = " | ".join(points(c.estimate, c.low, c.high) for c in cells)
        lines.append(f"| {said}: `{a}` − `{b}` | {told} |")
    return "\n".join(lines)


def describe() -> None:
    """Write the page's tables and pictures from what is shipped."""
    page = PAGE.read_text(encoding="utf-8")
    page = between(page, "rates", rates(saves(tables.read(SHIPPED / "noise" / "noise_test.parquet"))))
    found = analyse(read_results(SHIPPED))
    page = between(page, "post hoc", post_hoc(found))
    write_whole(PAGE, between(page, "verdicts", verdicts(found)))
    for name, draw in PICTURES.items():
        plate: Plate | None = draw(found, found.noise) if found.noise else None
        if plate is not None:
            picture(plate, IMAGES / f"{name}.png", found.looks)


if __name__ == "__main__":
    if sys.argv[1:]:
        ship(Path(sys.argv[1]) / TEACHER, "faults")
    describe()
