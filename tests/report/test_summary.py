"""The report in a few sentences."""

from dataclasses import replace

import pytest

from blindsave.report import claims, summary
from blindsave.report.analysis import Analysis


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


def test_a_test_without_the_endpoint_says_which_lengths_it_has(analysis: Analysis):
    said = summary.sentences(replace(analysis, endpoint=7), [])[0]
    assert said == "Save rates were recorded with the puck hidden for 0 ms, 100 ms, 200 ms, 300 ms, 400 ms, 500 ms."


@pytest.mark.parametrize(
    ("ends", "first"),
    [
        (
            [(0.01, 0.02), (-0.02, -0.01)],
            "More complex memories helped: Structured k = 1 saved clearly more than k = 0.",
        ),
        (
            [(-0.02, -0.01), (-0.02, 0.01)],
            "None of the 2 more complex memories saved clearly more than the linear one (1 saved clearly less).",
        ),
    ],
)
def test_several_comparisons_are_counted(analysis: Analysis, ends, first):
    test = analysis.main
    assert test is not None
    primary = tuple(
        replace(one, low=low, high=high) for one, (low, high) in zip(test.contrasts["primary"], ends, strict=False)
    )
    changed = replace(test, contrasts={"primary": primary})
    said = summary.sentences(replace(analysis, splits={test.split: changed}), [])
    assert said[1].startswith(first)


def test_what_is_not_confirmed_is_named_in_the_middle_of_a_sentence(analysis: Analysis):
    found = claims.findings(analysis)[:3]
    verdicts = (claims.CONFIRMED, claims.CONTRADICTED, claims.UNTESTED)
    judged = [replace(one, verdict=verdict) for one, verdict in zip(found, verdicts, strict=True)]
    bare = replace(analysis, splits={}, noise=None, memory={}, memory_saves={})
    (said,) = summary.sentences(bare, judged)
    assert said.startswith("Of the paper's 3 claims listed below, 2 were tested and 1 confirmed. Not confirmed: ")
    statement = found[1].claim.statement
    assert statement[:1].lower() + statement[1:] in said
    (all_well,) = summary.sentences(bare, judged[:1])
    assert "Not confirmed" not in all_well


def test_the_sealed_test_is_compared_only_where_both_were_opened(analysis: Analysis):
    one = replace(analysis, splits={"principal_test": analysis.splits["principal_test"]})
    assert not any("sealed test" in sentence for sentence in summary.sentences(one, []))
