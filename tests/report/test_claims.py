from dataclasses import replace

import pytest

from blindsave.report import claims
from blindsave.report.analysis import Analysis, analyse
from blindsave.report.published import COST_FIELDS, cost
from blindsave.report.published import claims as published_claims
from blindsave.report.results import Results
from blindsave.report.sheet import Estimate


@pytest.fixture(scope="module")
def analysis(results: Results) -> Analysis:
    """With as many replicates as it takes to tell a p that survives Holm's correction."""
    return analyse(results, 2000)


def claim(name: str):
    return next(c for c in published_claims() if c.id == name)


def test_our_families_cost_exactly_what_the_paper_says(analysis: Analysis):
    for family, ours in analysis.results.costs.families.items():
        theirs = cost(family)
        for field in COST_FIELDS[:5]:
            assert getattr(ours, field) == theirs[field], (family, field)


def test_with_the_papers_saves_its_principal_claims_are_confirmed(analysis: Analysis):
    found = {f.claim.id: f for f in claims.findings(analysis)}
    for name in (
        "feed-forward",
        "stack",
        "gru",
        "rank-1",
        "rank-2",
        "rank-4",
        "k0-level",
        "extrapolation",
        "core-size",
    ):
        assert found[name].verdict == claims.CONFIRMED, found[name].sentence
    assert found["gru"].ours.value == pytest.approx(0.53, abs=0.01)
    assert "GRU" in found["gru"].sentence and "confirmed" in found["gru"].sentence


@pytest.mark.parametrize(
    ("name", "ours", "verdict"),
    [
        ("stack", Estimate(11.0, 5.0, 17.0), claims.CONFIRMED),
        ("stack", Estimate(40.0, 30.0, 50.0), claims.OTHER_SIZE),
        ("stack", Estimate(3.0, -1.0, 7.0), claims.NOT_CONFIRMED),
        ("stack", Estimate(-5.0, -9.0, -1.0), claims.CONTRADICTED),
        ("gru", Estimate(0.0, -2.0, 2.0), claims.CONFIRMED),
        ("gru", Estimate(4.0, 2.0, 6.0), claims.CLEAR),
        ("gru", Estimate(-4.0, -6.0, -2.0), claims.CLEAR),
    ],
)
def test_verdicts_on_differences(name: str, ours: Estimate, verdict):
    assert claims._verdict_of_difference(claim(name), ours) == verdict


def test_rates_agree_where_either_lies_in_the_others_interval():
    assert claims.compatible(Estimate(97.0, 95.0, 98.4), Estimate(98.3, 96.5, 99.6))
    assert not claims.compatible(Estimate(90.0, 88.0, 92.0), Estimate(98.3, 96.5, 99.6))
    assert claims.compatible(Estimate(100.0, 100.0, 100.0), Estimate(100.0))
    assert not claims.compatible(Estimate(99.0, 98.0, 99.5), Estimate(100.0))


def test_what_was_not_recorded_is_not_tested(analysis: Analysis):
    bare = replace(analysis, splits={}, noise=None, memory={}, memory_saves={})
    found = {f.claim.id: f.verdict for f in claims.findings(bare)}
    assert found["gru"] == found["noise-gru"] == found["state-reset"] == claims.UNTESTED
