"""The table of costs."""

from dataclasses import replace

from blindsave.report.analysis import Analysis
from blindsave.report.costs import Costs
from blindsave.report.sheet import Number, Sheet
from blindsave.report.sheets import cost


def test_ours_stand_above_the_papers_and_sizes_are_equal(sheets: dict[str, Sheet]):
    rows = sheets["costs"].rows
    assert [row[1] for row in rows] == ["ours", "paper"] * 7
    for ours, theirs in zip(rows[::2], rows[1::2], strict=True):
        assert ours[2:7] == theirs[2:7]
        assert theirs[0] == "" and isinstance(theirs[7], Number)


def test_the_machine_is_named_where_it_is_known(sheets: dict[str, Sheet], analysis: Analysis):
    assert sheets["costs"].caption.startswith("Our latency: Imaginary CPU 1. ")
    untimed = {name: replace(one, timings={}) for name, one in analysis.results.costs.families.items()}
    bare = replace(analysis, results=replace(analysis.results, costs=Costs(untimed)))
    table = cost.costs(bare)
    assert table.caption.startswith("The paper's:")
    assert table.rows[0][7:] == (None, None)
