import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindsave.evidence.intervals import contrast, equivalence, holm, interval, two_sided_p

NORMAL = np.random.default_rng(1).normal(0.0, 0.01, 20_000)


def test_percentiles_interpolate_linearly():
    found = interval(0.5, np.arange(101) / 100)
    assert (found.estimate, found.low, found.high) == pytest.approx((0.5, 0.025, 0.975))


def test_equivalence_needs_the_ninety_per_cent_interval_inside_the_margin():
    close = equivalence(NORMAL, margin=0.02)
    assert close.equivalent
    assert (close.low, close.high) == pytest.approx((-0.01645, 0.01645), abs=5e-4)
    assert close.p == pytest.approx(0.0228, abs=0.004)
    assert not equivalence(NORMAL, margin=0.015).equivalent
    assert not equivalence(NORMAL + 0.01, margin=0.02).equivalent


def test_a_precise_difference_can_be_both_real_and_equivalent():
    found = contrast(("a", "b"), 20, 0.01, NORMAL / 10 + 0.01)
    assert found.p < 0.01
    assert found.equivalence.equivalent


def test_an_interval_that_touches_the_margin_is_not_inside():
    assert not equivalence(np.full(100, 0.02), margin=0.02).equivalent


def test_two_sided_p_is_one_at_no_difference_and_small_far_away():
    assert two_sided_p(np.zeros(1000)) == 1.0
    assert two_sided_p(np.full(9999, 0.3)) == 2 / 10_000
    assert two_sided_p(NORMAL) > 0.9


def test_holm_steps_down():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_is_monotone_never_below_p_and_at_most_bonferroni(p_values):
    adjusted = holm(p_values)
    for p, q in zip(p_values, adjusted, strict=True):
        assert p <= q <= min(1.0, len(p_values) * p * (1 + 1e-12))
    order = np.argsort(p_values, kind="stable")
    assert (np.diff(np.array(adjusted)[order]) >= 0).all()
