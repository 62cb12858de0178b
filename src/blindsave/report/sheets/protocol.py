"""Tables of the record: hypotheses of the plan, deviations from it, the ledger."""

from blindsave.report.analysis import Analysis, percent
from blindsave.report.names import split_title
from blindsave.report.registry import tables
from blindsave.report.sheet import Column, Sheet, p_value
from blindsave.report.verdicts import verdict


@tables("protocol")
def hypotheses(analysis: Analysis) -> Sheet:
    """The plan's hypotheses and what the tests decided."""
    columns = (
        Column("hypothesis", "Hypothesis of the plan", words=True),
        Column("verdict", "Verdict"),
        Column("estimate", "Points (95 % CI)"),
        Column("test", "Test"),
        Column("kind", "Kind"),
        Column("p_holm", "p, Holm"),
        Column("p_equivalence", "p, equivalence"),
    )
    rows = tuple(
        (
            f"{v.statement[:1].upper()}{v.statement[1:]}",
            verdict(v),
            percent(v.contrast, True),
            split_title(v.split),
            v.kind,
            p_value(v.contrast.p_holm) if v.kind == "superiority" else None,
            p_value(v.contrast.equivalence.p) if v.kind == "equivalence" else None,
        )
        for v in analysis.verdicts
    )
    caption = (
        "Superiority is supported where the 95 % interval lies above zero, as the plan has it, and Holm's p is below "
        "0.05 as well; “before correction only” where the interval alone says so. Equivalence is supported where the "
        "90 % interval lies inside the plan's margin. “Not supported” is not “refuted”: the data leave it open."
    )
    return Sheet("hypotheses", "Hypotheses fixed before the test was opened", caption, columns, rows)


@tables("protocol")
def deviations(analysis: Analysis) -> Sheet:
    """What was planned one way and done another."""
    columns = tuple(Column(name, name.capitalize(), words=True) for name in ("what", "planned", "done"))
    rows = tuple((d.what, _words(d.planned), _words(d.done)) for d in analysis.deviations)
    caption = "Computed from the plan, the tables and the ledger."
    return Sheet("deviations", "Deviations from the plan", caption, columns, rows)


@tables("protocol")
def ledger(analysis: Analysis) -> Sheet:
    """Every entry of the ledger."""
    columns = (
        Column("index", "Entry"),
        Column("time", "Time (UTC)"),
        Column("kind", "Event"),
        Column("content", "Says", words=True),
        Column("sha256", "SHA-256"),
    )
    rows = tuple(
        (str(e.index), e.time.replace("+00:00", "").replace("T", " "), e.kind, _says(e.content), e.sha256[:16] + "…")
        for e in analysis.results.entries
    )
    found = analysis.results.verification
    said = found.sentence if found else ""
    caption = f"Append-only; every line carries the hash of the line before it. {said}".strip()
    return Sheet("ledger", "Ledger of freeze and release", caption, columns, rows)


def _words(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return str(value)


def _says(content: object) -> str:
    """A ledger entry's scalar facts; long hashes shortened, tables counted."""
    if not isinstance(content, dict):
        return str(content)
    parts = []
    for key, value in content.items():
        words = key.replace("_", " ")
        if isinstance(value, str):
            parts.append(f"{words} {value[:16] + '…' if len(value) == 64 else value}")
        elif isinstance(value, int | float):
            parts.append(f"{words} {value}")
        elif isinstance(value, dict) and key in ("tables", "grids"):
            parts.append(f"{words}: {', '.join(value)}")
    return "; ".join(parts)
