import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindsave.errors import BadInput
from blindsave.task.tracking import (
    CLEAR,
    OBSERVATIONS,
    PER_MM,
    Tracking,
    bias,
    blackout,
    blackouts,
    compose,
    correlated_noise,
    noise_trace,
    standard_normals,
)

UNIT = "direct_launch_noise_v1:noise_test:alias:000"


@given(st.integers(0, 121))
def test_blackout_hides_exactly_its_half_open_interval(length):
    hidden = np.flatnonzero(~blackout(length).visible)
    assert hidden.tolist() == list(range(5, 5 + length))
    assert blackout(length).offset is None


def test_several_blackouts_compose():
    both = blackouts([(5, 10), (30, 5)])
    assert np.array_equal(both.visible, compose(blackout(10), blackout(5, start=30)).visible)
    assert (~both.visible).sum() == 15


@pytest.mark.parametrize(("length", "start"), [(-1, 5), (122, 5), (1, -1), (1, 126)])
def test_out_of_range_blackout_is_refused(length, start):
    with pytest.raises(BadInput, match="does not fit"):
        blackout(length, start)


def test_noise_normals_have_the_published_check_values():
    expected = [[1.32237691, -1.05736746], [-0.480423, 0.1465285], [0.30868735, 1.93632594]]
    np.testing.assert_allclose(standard_normals(UNIT)[:3], expected, atol=5e-9)


def test_a_millimetre_has_the_published_normalised_size():
    np.testing.assert_allclose(PER_MM, [0.00106118, 0.00205191], atol=5e-9)
    offset = noise_trace(UNIT, 5.0).offset
    assert offset is not None
    np.testing.assert_allclose(offset / standard_normals(UNIT), [[0.00530588, 0.01025957]] * 126, atol=5e-9)


def test_noise_belongs_to_the_unit_and_hides_nothing():
    first, again, other = (noise_trace(unit, 1.0).offset for unit in (UNIT, UNIT, UNIT + "x"))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert noise_trace(UNIT, 1.0).visible.all()


@pytest.mark.parametrize("nothing", [noise_trace(UNIT, 0.0), bias(0.0, 0.0), compose(), blackout(0)])
def test_no_error_takes_the_exact_clean_path(nothing):
    assert nothing.offset is None
    assert nothing.visible.all()


def test_offsets_add_and_any_part_hides():
    mixed = compose(blackout(20), noise_trace(UNIT, 1.0), bias(2.0, -3.0))
    expected = standard_normals(UNIT) * PER_MM + np.array([2.0, -3.0]) * PER_MM
    np.testing.assert_allclose(mixed.offset, expected, rtol=1e-13)
    assert np.array_equal(mixed.visible, blackout(20).visible)


def test_correlated_noise_keeps_its_spread_and_correlates():
    traces = np.concatenate([correlated_noise(f"unit {i}", 1.0, 0.9).offset / PER_MM for i in range(200)], axis=1)
    assert traces.std() == pytest.approx(1.0, abs=0.05)
    steps = np.mean(traces[1:] * traces[:-1])
    assert steps == pytest.approx(0.9, abs=0.05)


@pytest.mark.parametrize(
    "make",
    [
        lambda: noise_trace(UNIT, -1.0),
        lambda: noise_trace(UNIT, float("nan")),
        lambda: correlated_noise(UNIT, 1.0, 1.0),
        lambda: bias(float("inf"), 0.0),
        lambda: Tracking(np.ones(5, bool)),
        lambda: Tracking(CLEAR.visible, np.full((OBSERVATIONS, 2), np.nan)),
    ],
)
def test_senseless_tracking_is_refused(make):
    with pytest.raises(BadInput):
        make()


def test_tracking_cannot_be_changed_behind_an_episode():
    visible = np.ones(OBSERVATIONS, bool)
    tracking = Tracking(visible)
    visible[3] = False
    assert tracking.visible.all()
    with pytest.raises(ValueError, match="read-only"):
        tracking.visible[0] = False
