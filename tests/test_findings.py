"""docs/findings.md says what the studies of all teachers say."""

from pathlib import Path

from page_tools import page_tool

TOOL = page_tool("findings")
PAGE = (Path(__file__).parents[1] / "docs" / "findings.md").read_text("utf-8")


def test_the_tables_are_those_of_the_studies():
    found = TOOL.studies()
    assert [next(iter(group)) for group in found.values()] == [TOOL.MAIN, "7303"]
    assert TOOL.page(PAGE, found) == PAGE
