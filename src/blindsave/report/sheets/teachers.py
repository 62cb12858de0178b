"""Tables of several teachers: their fingerprints beside the window's deficit, and whether one foretells the other."""

from blindsave.evidence.intervals import holm
from blindsave.report.analysis import Analysis
from blindsave.report.names import milliseconds, short
from blindsave.report.registry import tables
from blindsave.report.sheet import Cell, Column, Estimate, Number, Sheet, p_value
from blindsave.report.teachers import LINEAR, TRAITS, WINDOW, Placed, Trait, association, paper

Teachers = tuple[Placed, ...]


@tables("results", needs="teachers", folded=True)
def teachers(analysis: Analysis, placed: Teachers) -> Sheet:
    """One row per teacher, the paper's last."""
    columns = (
        Column("teacher", "Teacher"),
        Column("seed", "Seed"),
        Column("timeouts", "Time-outs"),
        Column("deficit", f"{short(LINEAR)} − {short(WINDOW)} (points)"),
        *(Column(trait.name, trait.title) for trait in TRAITS),
    )
    rows = [_row(one, str(one.fingerprint.get("timeouts", ""))) for one in placed]
    caption = (
        f"Save rates at {milliseconds(analysis.endpoint)} ms on the principal test, linear memory minus window, with "
        "95 % intervals, beside the fingerprints of the teachers (`blindsave teacher fingerprint`). Time-outs in the "
        "teacher's training were an end (terminate) or a cut (truncate). The paper's row is from what was published."
    )
    return Sheet("teachers", "Teachers and their students", caption, columns, (*rows, _row(paper(), "truncate")))


@tables("results", needs="teachers", folded=True)
def correlations(_analysis: Analysis, placed: Teachers) -> Sheet:
    """Rank correlations of every trait with the deficit, over our own teachers."""
    columns = (
        Column("trait", "Trait", words=True),
        Column("teachers", "Teachers"),
        Column("rho", "Rank correlation with the deficit"),
        Column("p", "p"),
        Column("p_holm", "p, Holm"),
        Column("smallest_p", "Smallest p possible"),
    )
    found = [(trait, association(placed, trait)) for trait in TRAITS]
    known = [one for _, one in found if one.p is not None]
    adjusted = dict(zip(map(id, known), holm([one.p for one in known if one.p is not None]), strict=True))
    rows: list[tuple[Cell, ...]] = [
        (
            trait.title,
            one.points,
            None if one.rho is None else Estimate(one.rho, one.low, one.high, 2, True),
            p_value(one.p),
            p_value(adjusted.get(id(one))),
            p_value(one.smallest_p),
        )
        for trait, one in found
    ]
    caption = (
        "Spearman's rho over our teachers (the paper's is not among them), with 95 % intervals from resampled teachers "
        "where there are five or more. p: two-sided, from shuffled pairs; Holm: adjusted for all traits of this table. "
        "A rank correlation of so few teachers can hint, not show; the deficits have intervals of their own."
    )
    return Sheet("teacher-correlations", "Does a fingerprint foretell the deficit?", caption, columns, tuple(rows))


def _row(one: Placed, timeouts: str) -> tuple[Cell, ...]:
    seed = str(one.fingerprint.get("seed", ""))
    return (one.name.replace("_", " "), seed, timeouts, one.deficit, *(_cell(one, trait) for trait in TRAITS))


def _cell(one: Placed, trait: Trait) -> Number | None:
    value = one.value(trait)
    return None if value is None else Number(value, trait.decimals)
