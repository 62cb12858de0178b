"""The main tables of the test."""

from dataclasses import replace

from report_sheets import cell, place

from blindsave.report.analysis import Analysis
from blindsave.report.names import ordered, title
from blindsave.report.sheet import Estimate, Mark, Sheet, text
from blindsave.report.sheets import results


def test_every_table_of_the_issue_is_made(sheets: dict[str, Sheet]):
    wanted = {"table-1", "noise", "subgroups", "seeds", "outcomes", "contrasts", "paper-versus-ours", "claims", "power"}
    wanted |= {"hypotheses", "deviations", "ledger", "files", "memory", "costs", "sealed", "save-rates", "teacher-gaps"}
    assert wanted <= sheets.keys()


def test_table_1_repeats_the_papers_numbers_when_fed_the_papers_saves(sheets: dict[str, Sheet]):
    table = sheets["table-1"]
    rate = cell(table, "Structured k = 0", "save")
    assert isinstance(rate, Estimate) and rate.point == "98.3"
    assert text(cell(table, "Feed-forward", "overall")) == "73.6"
    assert text(cell(table, "GRU-64", "parameters")) == "28,898"
    assert text(cell(table, "GRU-64", "core_parameters")) == "19,200"
    assert [row[0] for row in table.rows][-1] == "Teacher" and table.emphasis == (7,)


def test_contrasts_carry_holm_equivalence_and_exact_counts(sheets: dict[str, Sheet]):
    table = sheets["contrasts"]
    assert [row[1] for row in table.rows].count("primary") == 4
    assert isinstance(cell(table, "GRU-64 − k = 0", "equivalent"), Mark)
    only_a, only_b = (cell(table, "GRU-64 − k = 0", name) for name in ("only_a", "only_b"))
    assert only_a - only_b == sum((221, 216, 221, 219, 223)) - sum((219, 223, 223, 221, 220))
    assert len(cell(table, "GRU-64 − k = 0", "mcnemar").split(", ")) == 5


def test_a_policy_without_a_counted_cost_has_empty_cells(analysis: Analysis):
    test = analysis.main
    assert test is not None
    bare = replace(analysis, results=replace(analysis.results, costs=replace(analysis.results.costs, families={})))
    table = results.complete_comparison(bare, test)
    assert all(row[3:] == (None,) * 7 for row in table.rows)
    assert cell(table, "GRU-64", "save") == cell(results.complete_comparison(analysis, test), "GRU-64", "save")


def test_rates_have_one_column_per_length_and_say_what_lies_beyond_training(sheets: dict[str, Sheet]):
    table = sheets["save-rates"]
    assert [column.title for column in table.columns[1:]] == ["0 ms", "100 ms", "200 ms", "300 ms", "400 ms", "500 ms"]
    assert "500 ms lies beyond" in table.caption
    assert "beyond" not in sheets["validation-rates"].caption
    rates = [row[place(table, "save_20")].value for row in table.rows]
    assert min(rates) == cell(table, "Feed-forward", "save_20").value


def test_the_teachers_row_is_set_apart(analysis: Analysis, sheets: dict[str, Sheet]):
    assert analysis.main is not None
    names = [title(policy) for policy in ordered(analysis.main.saves.saved)]
    assert [row[0] for row in sheets["save-rates"].rows] == names
    assert sheets["save-rates"].emphasis == (len(names) - 1,)


def test_a_test_without_the_endpoint_has_rates_but_no_differences(analysis: Analysis):
    from blindsave.report.build import tables

    late = replace(
        analysis,
        endpoint=7,
        splits={
            "validation": replace(analysis.splits["validation"], contrasts=dict.fromkeys(("primary", "secondary"), ()))
        },
    )
    found = tables(late)
    assert "save-rates" in found and "table-1" not in found and "contrasts" not in found
