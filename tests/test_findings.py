"""docs/findings.md says what the studies of all teachers say."""

from pathlib import Path

import pytest
from page_tools import page_tool

from blindsave.report.analysis import analyse
from blindsave.report.results import read_results

TOOL = page_tool("findings")
PAGE = (Path(__file__).parents[1] / "docs" / "findings.md").read_text("utf-8")


@pytest.fixture(scope="module")
def found():
    return {name: analyse(read_results(folder)) for name, folder in (TOOL.STUDIES | TOOL.FAITHFUL).items()}


def test_rates_and_differences_are_those_of_the_tables(found):
    assert TOOL.rates_table(found) in PAGE
    assert TOOL.differences_table(found) in PAGE
    assert TOOL.over_table({name: found[name] for name in TOOL.STUDIES}) in PAGE
