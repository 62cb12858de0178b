"""Our results beside the paper's."""

from report_sheets import cell, place

from blindsave.report.analysis import Analysis
from blindsave.report.claims import findings
from blindsave.report.sheet import Mark, Sheet


def test_with_the_papers_saves_every_rate_agrees(sheets: dict[str, Sheet]):
    table = sheets["paper-versus-ours"]
    agree, difference = place(table, "agree"), place(table, "difference")
    assert len(table.rows) == 8 * 6
    assert {row[agree] for row in table.rows} == {Mark("yes", "good")}
    assert {row[difference] for row in table.rows} <= {"0.0", "+0.0"}


def test_every_claim_has_its_verdict_and_its_place(sheets: dict[str, Sheet], analysis: Analysis):
    table = sheets["claims"]
    found = findings(analysis)
    assert [row[0] for row in table.rows] == [finding.claim.statement for finding in found]
    for finding in found:
        assert cell(table, finding.claim.statement, "verdict") == finding.verdict
        assert cell(table, finding.claim.statement, "where") == finding.claim.where
