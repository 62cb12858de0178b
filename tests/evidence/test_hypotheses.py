from dataclasses import replace

import pytest
from sealed_study import REPOSITORY
from synthetic_tables import random_saves, table

from blindsave.evidence.hypotheses import decide, verdicts
from blindsave.evidence.intervals import Contrast, Equivalence
from blindsave.evidence.plan import load_plan
from blindsave.evidence.principal import principal
from blindsave.evidence.saves import saves
from blindsave.evidence.strata import noise


def contrast(low: float, high: float, equivalent: bool = False) -> Contrast:
    inner = Equivalence(0.02, low, high, 0.5, equivalent)
    return Contrast("a", "b", 20, (low + high) / 2, low, high, 0.5, inner)


@pytest.mark.parametrize(
    ("kind", "low", "high", "equivalent", "verdict"),
    [
        ("superiority", 0.01, 0.2, False, "supported"),
        ("superiority", -0.01, 0.2, False, "not supported"),
        ("superiority", 0.0, 0.2, False, "not supported"),
        ("superiority", -0.2, -0.1, False, "contrary"),
        ("equivalence", -0.01, 0.01, True, "supported"),
        ("equivalence", -0.03, 0.01, False, "not supported"),
        ("equivalence", 0.01, 0.05, False, "not supported"),
        ("equivalence", 0.03, 0.05, False, "contrary"),
        ("equivalence", -0.05, -0.03, False, "contrary"),
        ("equivalence", -0.05, 0.05, False, "not supported"),
    ],
)
def test_verdicts_follow_the_rule_of_the_plan(kind, low, high, equivalent, verdict):
    assert decide(kind, contrast(low, high, equivalent)) == verdict


def test_every_hypothesis_is_decided_on_its_splits():
    plan = load_plan(REPOSITORY / "protocol.toml")
    rates = {**dict.fromkeys(plan.families, 0.98), "feed_forward": 0.4, "teacher": 0.98}
    test = principal(random_saves(rates, blackouts=(20,)), replicates=500)
    loud = random_saves(
        {name: rates[name] for name in plan.policies("noise_test")}, disturbances=("clean", "noise_5mm")
    )
    found = verdicts(plan, {"principal_test": test, "sealed_test": test, "noise_test": noise(loud, 500)})
    assert len(found) == 7 + 7 + 2
    assert {v.id for v in found} == {h.id for h in plan.hypotheses}
    assert next(v for v in found if v.id == "memory").verdict == "supported"
    assert all(v.contrast.p_holm >= v.contrast.p for v in found)
    assert {v.contrast.disturbance for v in found if v.split == "noise_test"} == {"noise_5mm"}
    assert found[0].to_dict()["contrast"]["equivalence"]["margin"] == plan.margin


def test_identical_families_are_equivalent():
    plan = load_plan(REPOSITORY / "protocol.toml")
    policies = {**dict.fromkeys(plan.families, plan.training_seeds), "teacher": (0,)}
    alike = principal(saves(table(policies, lambda _, __, shot, *___: "1" not in shot.shot_id)), replicates=200)
    by_id = {v.id: v.verdict for v in verdicts(plan, {"sealed_test": alike})}
    assert by_id == {
        "memory": "not supported",
        "window": "not supported",
        **dict.fromkeys(("rank-1", "rank-2", "rank-4", "gru", "teacher"), "supported"),
    }


def test_a_hypothesis_may_be_asked_at_a_length_of_its_own():
    plan = load_plan(REPOSITORY / "protocol.toml")
    usual = next(h for h in plan.hypotheses if h.id == "memory")
    early = replace(usual, id="early", blackout=0)
    rates = {**dict.fromkeys(plan.families, 0.98), "feed_forward": 0.4, "teacher": 0.98}
    test = principal(random_saves(rates, blackouts=(0, 20)), replicates=200)
    found = verdicts(replace(plan, hypotheses=(usual, early)), {"principal_test": test})
    assert [one.contrast.blackout for one in found] == [20, 0]
    assert found[1].contrast.estimate == test.difference(usual.a, usual.b, 0).estimate != found[0].contrast.estimate


def test_a_hypothesis_may_have_a_margin_of_its_own():
    plan = load_plan(REPOSITORY / "protocol.toml")
    equal = next(h for h in plan.hypotheses if h.id == "gru")
    strict = replace(equal, id="strict", margin_points=0.1)
    rates = {**dict.fromkeys(plan.families, 0.98), "teacher": 0.98}
    test = principal(random_saves(rates, blackouts=(20,)), replicates=500)
    wide, narrow = verdicts(replace(plan, hypotheses=(equal, strict)), {"principal_test": test})
    assert (wide.contrast.equivalence.margin, narrow.contrast.equivalence.margin) == (0.02, 0.001)
    assert (wide.contrast.low, wide.contrast.high) == (narrow.contrast.low, narrow.contrast.high)
    assert narrow.verdict == "not supported"
