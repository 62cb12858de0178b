from dataclasses import replace

import pytest

from blindsave.report import build, claims, summary
from blindsave.report.analysis import Analysis
from blindsave.report.sheet import Estimate, Mark, Number, Sheet, text


@pytest.fixture(scope="module")
def sheets(analysis: Analysis) -> dict[str, Sheet]:
    return build.tables(analysis)


def cell(sheet: Sheet, row: str, column: str):
    at = [c.name for c in sheet.columns].index(column)
    return next(r[at] for r in sheet.rows if r[0] == row)


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


def test_seed_table_counts_shots(sheets: dict[str, Sheet]):
    rows = sheets["seeds"].rows
    assert rows[0] == ("Feed-forward", "14303", 220, 205, 171, 127, 70, 55)
    assert rows[1][0] == ""
    assert rows[-1][:3] == ("Teacher", None, 224)


def test_outcome_rows_add_up_to_all_episodes(sheets: dict[str, Sheet]):
    for row in sheets["outcomes"].rows[:6]:
        assert sum(n for n in row[2:] if isinstance(n, int)) == 1125


def test_contrasts_carry_holm_equivalence_and_exact_counts(sheets: dict[str, Sheet]):
    table = sheets["contrasts"]
    assert [row[1] for row in table.rows].count("primary") == 4
    assert isinstance(cell(table, "GRU-64 − k = 0", "equivalent"), Mark)
    only_a, only_b = (cell(table, "GRU-64 − k = 0", name) for name in ("only_a", "only_b"))
    assert only_a - only_b == sum((221, 216, 221, 219, 223)) - sum((219, 223, 223, 221, 220))
    assert len(cell(table, "GRU-64 − k = 0", "mcnemar").split(", ")) == 5


def test_noise_table_sets_the_paper_below_ours(sheets: dict[str, Sheet]):
    table = sheets["noise"]
    assert [c.group for c in table.columns[1:]] == ["No blackout"] * 3 + ["400 ms blackout"] * 3
    assert [row[0].strip() for row in table.rows[:2]] == ["Structured k = 0", "paper"]
    assert table.rows[1][6].point == "98.5"


def test_memory_table_shows_that_a_reset_changes_nothing_when_nothing_is_hidden(sheets: dict[str, Sheet]):
    first = sheets["memory"].rows[0]
    assert first[0] == "Teacher, state erased" and first[1] == 0
    assert isinstance(first[2], Number) and isinstance(first[3], Number) and first[2] == first[3]


def test_hypotheses_of_the_plan_are_decided_on_every_test(sheets: dict[str, Sheet], analysis: Analysis):
    tests = {row[3] for row in sheets["hypotheses"].rows}
    assert tests == {"principal test", "sealed test", "noise test"}
    assert len(sheets["hypotheses"].rows) == len(analysis.verdicts) == 16


def test_summary_says_what_the_tables_say(analysis: Analysis):
    said = " ".join(summary.sentences(analysis, claims.findings(analysis)))
    for part in ("98.3 %", "44.4 %", "The task needs memory", "tracking noise", "sealed test", "18 were tested"):
        assert part in said


@pytest.mark.parametrize(
    ("low", "high", "how"),
    [(0.01, 0.03, "clearly more than"), (-0.03, -0.01, "clearly less than"), (-0.01, 0.01, "neither clearly more nor")],
)
def test_summary_of_one_comparison_names_it(analysis: Analysis, low: float, high: float, how: str):
    test = analysis.main
    assert test is not None
    one = replace(next(c for c in test.contrasts["primary"] if c.a == "gru_n64"), low=low, high=high)
    alone = replace(test, contrasts={**test.contrasts, "primary": (one,)})
    said = " ".join(summary.sentences(replace(analysis, splits={test.split: alone}), claims.findings(analysis)))
    assert f"The one more complex memory, GRU-64, saved {how}" in said
    assert "None of the" not in said


def test_summary_of_nothing_is_empty(analysis: Analysis):
    bare = replace(analysis, splits={}, noise=None, memory={}, memory_saves={})
    untested = [f for f in claims.findings(bare) if f.verdict == claims.UNTESTED]
    assert summary.sentences(bare, untested) == []


@pytest.mark.parametrize(
    ("verdict", "kind", "p_holm", "shown"),
    [
        ("supported", "superiority", 0.04, "supported"),
        ("supported", "superiority", 0.052, "before correction only"),
        ("supported", "equivalence", 0.9, "supported"),
        ("contrary", "superiority", 0.01, "contrary"),
        ("not supported", "superiority", 0.2, "not supported"),
    ],
)
def test_superiority_is_shown_as_supported_only_where_holm_agrees(
    analysis: Analysis, verdict: str, kind: str, p_holm: float, shown: str
):
    from blindsave.report.sheets import protocol

    one = analysis.verdicts[0]
    found = replace(one, verdict=verdict, kind=kind, contrast=replace(one.contrast, p_holm=p_holm))
    assert protocol.verdict(found).text == shown
