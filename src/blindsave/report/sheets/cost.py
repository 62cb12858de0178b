"""The table of costs."""

from blindsave.report.analysis import Analysis
from blindsave.report.names import ordered, title
from blindsave.report.published import COST_FIELDS, cost
from blindsave.report.registry import tables
from blindsave.report.sheet import Column, Number, Sheet, grouped

COST_TITLES = ("Parameters", "Core params", "Carried (B)", "Recurrent (B)", "MACs", "Latency (µs)", "Latency p95 (µs)")


@tables("cost")
def costs(analysis: Analysis) -> Sheet:
    """Sizes and latency beside the paper's."""
    families = analysis.results.costs.families
    columns = (
        Column("family", "Family"),
        Column("source", "Source"),
        *(Column(field, head) for field, head in zip(COST_FIELDS, COST_TITLES, strict=True)),
    )
    rows = []
    for family in ordered(families):
        rows.append((title(family), "ours", *families[family].cells))
        theirs = cost(family)
        if theirs:
            cells = [int(theirs[field]) for field in COST_FIELDS[:5]]
            rows.append((title(family), "paper", *cells, *(Number(theirs[field], 2) for field in COST_FIELDS[5:])))
    machine = analysis.results.costs.machine.get("cpu")
    where = f"Our latency: {machine}. " if machine else ""
    caption = f"{where}The paper's: one pinned core of an Intel Core Ultra 9 285, mixed implementations."
    return Sheet("costs", "What a family costs", caption, columns, grouped(rows))
