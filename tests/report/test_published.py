"""The paper's numbers agree with one another, and are found by name."""

import numpy as np
import pytest

from blindsave.report.published import COST_FIELDS, claims, cost, difference, document, estimate, memory, noise, rate


def test_published_rates_follow_from_published_saves_by_seed():
    for policy, cells in document()["saves_by_seed"].items():
        for blackout, saves in cells.items():
            assert rate(policy, int(blackout)).value == pytest.approx(100 * np.mean(saves) / 225, abs=0.006)


def test_published_outcomes_add_up_to_the_published_saves():
    for policy, cells in document()["outcomes"].items():
        for blackout, (returned, arrested, conceded, timeout) in cells.items():
            assert returned + arrested + conceded + timeout == 1125
            assert returned + arrested == sum(document()["saves_by_seed"][policy][blackout])


def test_published_differences_follow_from_published_rates_and_mirror():
    for key, (point, low, high) in document()["differences"].items():
        a, b = key.split(" - ")
        assert low <= point <= high
        assert point == pytest.approx(rate(a, 20).value - rate(b, 20).value, abs=0.011)
    assert difference("feed_forward", "structured_k0").value == -53.96
    assert difference("feed_forward", "structured_k0").low == -64.38


def test_what_the_paper_does_not_give_is_none():
    assert rate("lru_n32", 20) is None and rate("gru_n64", 7) is None
    assert difference("lru_n32", "gru_n64") is None
    assert noise("feed_forward", 20, 5) is None and noise("gru_n64", 20, 2.5) is None
    assert memory("gru_n64", 20) is None and memory("teacher_reset", 7) is None
    assert cost("lru_n32") == {}


def test_a_mirrored_difference_is_the_same_interval_seen_from_the_other_side():
    for key in document()["differences"]:
        a, b = key.split(" - ")
        one, other = difference(a, b), difference(b, a)
        assert (other.value, other.low, other.high) == (-one.value, -one.high, -one.low)


def test_numbers_have_an_interval_or_none():
    assert estimate([98.3, 96.5, 99.6]).span == "[96.5, 99.6]"
    assert estimate([98.3]).span == ""


def test_noise_levels_are_found_whole_or_not():
    assert noise("gru_n64", 20, 5.0) == noise("gru_n64", 20, 5) is not None


def test_published_memory_tests_add_up():
    for policy in document()["memory"]:
        for blackout in (0, 20):
            first, second, gap = memory(policy, blackout)
            assert gap.value == pytest.approx(first - second, abs=0.15)


def test_every_claim_names_what_it_is_about():
    found = claims()
    assert len({claim.id for claim in found}) == len(found)
    for claim in found:
        assert claim.kind in ("difference", "rate", "fewer"), claim.id
        assert bool(claim.expect) == (claim.kind == "difference"), claim.id
        assert (claim.cost in COST_FIELDS) == (claim.kind == "fewer"), claim.id
        assert bool(claim.b) == (claim.kind != "rate"), claim.id
