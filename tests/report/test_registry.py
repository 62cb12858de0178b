import sys

import pytest

from blindsave.report import registry, sheets
from blindsave.report.analysis import Analysis
from blindsave.report.build import tables
from blindsave.report.claims import findings
from blindsave.report.page import SECTIONS, page

NEW_TABLE = """
from blindsave.report.registry import tables
from blindsave.report.sheet import Column, Sheet

@tables("noise", needs={needs!r}, folded=True)
def lengths(analysis, found):
    return Sheet("lengths", "Lengths played", "", (Column("n", "Length"),), tuple((n,) for n in found.saves.blackouts))
"""


@pytest.fixture
def add_module(tmp_path, monkeypatch):
    """Puts a file beside the report's own tables for the length of a test."""

    def add(source: str) -> None:
        (tmp_path / "lengths.py").write_text(source, encoding="utf-8")
        monkeypatch.setattr(sheets, "__path__", [*sheets.__path__, str(tmp_path)])
        monkeypatch.setattr(registry.tables, "_entries", list(registry.tables._entries))

    yield add
    sys.modules.pop("blindsave.report.sheets.lengths", None)


def test_a_new_table_is_one_new_file(analysis: Analysis, add_module):
    before = tables(analysis)
    add_module(NEW_TABLE.format(needs="noise"))
    after = tables(analysis)
    assert after.keys() - before.keys() == {"lengths"}
    document = page(analysis, after, (), findings(analysis))
    noise = document.partition('<section id="noise"')[2].partition("</section>")[0]
    assert "<details><summary>Lengths played</summary>" in noise


def test_a_table_whose_results_are_absent_is_not_made(analysis: Analysis, add_module):
    from dataclasses import replace

    add_module(NEW_TABLE.format(needs="noise"))
    assert not {"lengths", "noise", "noise-contrasts"} & tables(replace(analysis, noise=None)).keys()


def test_everything_registered_has_a_section_of_the_page(analysis: Analysis):
    sections = {section.name for section in SECTIONS}
    for made in (*registry.tables.made(analysis), *registry.figures.made(analysis)):
        assert made.section in sections, made.name


def test_the_order_does_not_depend_on_which_module_was_imported_first(analysis: Analysis, monkeypatch):
    names = [made.name for made in registry.tables.made(analysis)]
    modules = sorted({entry.make.__module__ for entry in registry.tables._entries}, reverse=True)
    turned = [entry for module in modules for entry in registry.tables._entries if entry.make.__module__ == module]
    monkeypatch.setattr(registry.tables, "_entries", turned)
    assert [made.name for made in registry.tables.made(analysis)] == names
