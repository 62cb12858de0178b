"""The table of the memory tests."""

from blindsave.evidence.paired import mcnemar
from blindsave.report.analysis import Analysis, percent
from blindsave.report.names import milliseconds, title
from blindsave.report.published import memory
from blindsave.report.registry import tables
from blindsave.report.sheet import Column, Number, Sheet, grouped


@tables("task")
def memory_tests(analysis: Analysis) -> Sheet | None:
    """Teacher against itself without state, and against a policy without memory."""
    if not analysis.memory:
        return None
    columns = (
        Column("test", "Compared with the teacher"),
        Column("blackout_ms", "Hidden (ms)"),
        Column("teacher", "Teacher (%)"),
        Column("other", "Other (%)"),
        Column("difference", "Difference (95 % CI)"),
        Column("paper", "Paper"),
        Column("only_teacher", "Only teacher saved"),
        Column("only_other", "Only other saved"),
    )
    rows = []
    for other, members in analysis.memory.items():
        held = analysis.memory_saves[other]
        for c in members:
            rates = [Number(100 * float(held.at(policy, c.blackout).mean())) for policy in (c.a, other)]
            theirs = memory(other, c.blackout)
            paper = None if theirs is None else theirs[2]
            count = mcnemar(held, c.a, other, c.blackout)[0]
            cells = (milliseconds(c.blackout), *rates, percent(c, True), paper, count.only_a, count.only_b)
            rows.append((title(other), *cells))
    caption = (
        f"The same {len(next(iter(analysis.memory_saves.values())).shot_ids)} shots for both; 95 % intervals from a "
        "paired bootstrap over episodes. Erasing the state changes nothing where the puck is never hidden."
    )
    return Sheet("memory", "Does the task need memory?", caption, columns, grouped(rows))
