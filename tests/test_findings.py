"""docs/findings.md says what the studies of all teachers say."""

import re
from pathlib import Path

from page_tools import page_tool

TOOL = page_tool("findings")
PAGE = (Path(__file__).parents[1] / "docs" / "findings.md").read_text("utf-8")


def test_the_tables_are_those_of_the_studies():
    found = TOOL.studies()
    assert [next(iter(group)) for group in found.values()] == [TOOL.MAIN, "7303"]
    assert TOOL.page(PAGE, found) == PAGE


def test_readme_says_what_was_decided_over_all_teachers():
    """The first of a page's rows of this name below its mark is that of the teachers whom the plan names."""
    decided = PAGE.partition("<!-- over teachers -->")[2]
    rows = [re.search(rf"\| {name} \| ([^|]+) \| ([^|]+) \|", decided) for name in ("linear - none", "gated - linear")]
    (mean, verdict), (_, equivalence) = (row.groups() for row in rows if row)
    readme = (Path(__file__).parents[1] / "README.md").read_text("utf-8")
    assert f"{mean.replace('[+', '[').replace(', +', ', ')} points more than none" in readme
    assert (verdict, equivalence) == ("superiority supported", "equivalence supported")
