"""Tables of the record: hypotheses, deviations, ledger."""

from dataclasses import replace

import pytest

from blindsave.evidence.deviations import Deviation
from blindsave.report.analysis import Analysis
from blindsave.report.sheet import Sheet
from blindsave.report.sheets import protocol


def test_hypotheses_of_the_plan_are_decided_on_every_test(sheets: dict[str, Sheet], analysis: Analysis):
    tests = {row[3] for row in sheets["hypotheses"].rows}
    assert tests == {"principal test", "sealed test", "noise test"}
    assert len(sheets["hypotheses"].rows) == len(analysis.verdicts) == 16


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


def test_the_ledger_is_shown_line_by_line_with_short_hashes(sheets: dict[str, Sheet], analysis: Analysis):
    rows = sheets["ledger"].rows
    assert [row[2] for row in rows] == ["freeze", "opening", "results"]
    assert "sealed seed 123456789" in rows[1][3] and "grids: principal_test" in rows[1][3]
    assert "freeze sha256 abababababababab…" in rows[0][3] and "ab" * 9 not in rows[0][3]
    assert all("T" not in row[1] and "+" not in row[1] for row in rows)
    assert [row[4][:-1] for row in rows] == [entry.sha256[:16] for entry in analysis.results.entries]


def test_deviations_are_put_into_words(analysis: Analysis):
    found = (Deviation("seeds", [1, 2], None), Deviation("grids", [], 5))
    rows = protocol.deviations(replace(analysis, deviations=found)).rows
    assert rows == (("seeds", "1, 2", "–"), ("grids", "none", "5"))


def test_only_the_p_value_that_decides_is_shown(sheets: dict[str, Sheet]):
    for row in sheets["hypotheses"].rows:
        kind, holm, equivalence = row[4:]
        assert (holm is None) == (kind != "superiority") and (equivalence is None) == (kind != "equivalence")
        assert row[0][0].isupper()
