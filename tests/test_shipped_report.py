"""Every published table comes out again from the published rows, and every page shows what the results hold."""

import csv
import importlib.util
import math
from pathlib import Path

import pytest

from blindsave.report.analysis import analyse
from blindsave.report.build import FORMATS, tables
from blindsave.report.results import read_results

REPOSITORY = Path(__file__).parents[1]
TABLES = REPOSITORY / "results" / "report" / "tables"


@pytest.fixture(scope="module")
def again() -> dict[str, dict[str, str]]:
    """All tables of the main study, computed anew from its rows, in every format."""
    sheets = tables(analyse(read_results(REPOSITORY / "results")))
    return {name: {kind: form(sheet) for kind, form in FORMATS.items()} for name, sheet in sheets.items()}


def test_the_published_tables_are_those_of_the_rows(again):
    assert {f"{name}.{kind}" for name in again for kind in FORMATS} == {path.name for path in TABLES.iterdir()}
    for name, kinds in again.items():
        for kind in ("md", "tex"):
            assert (TABLES / f"{name}.{kind}").read_text("utf-8") == kinds[kind], name


def test_the_published_numbers_are_those_of_the_rows_in_all_their_digits(again):
    for name, kinds in again.items():
        with (TABLES / f"{name}.csv").open(encoding="utf-8", newline="") as lines:
            published = list(csv.reader(lines))
        computed = list(csv.reader(kinds["csv"].splitlines()))
        assert len(published) == len(computed)
        for old, new in zip(published, computed, strict=True):
            assert len(old) == len(new)
            assert all(map(same, old, new)), (name, old, new)


def same(old: str, new: str) -> bool:
    """Equal texts, or numbers that differ by no more than another machine's rounding."""
    try:
        return old == new or math.isclose(float(old), float(new), rel_tol=1e-9, abs_tol=1e-12)
    except ValueError:
        return False


def test_every_page_shows_what_the_results_hold():
    spec = importlib.util.spec_from_file_location("pages", REPOSITORY / "docs" / "_tools" / "pages.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, text in module.pages().items():
        assert (REPOSITORY / name).read_text("utf-8") == text, f"{name}: `python docs/_tools/pages.py` writes it again"
