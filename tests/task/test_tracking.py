import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindsave.errors import BadInput
from blindsave.task.tracking import CLEAR, OBSERVATIONS, OWN, Tracking, blackout, field_error, hidden, standard_normals

UNIT = "direct_launch_noise_v1:noise_test:alias:000"


@given(st.integers(0, 121))
def test_blackout_hides_exactly_its_half_open_interval(length):
    away = np.flatnonzero(~blackout(length).visible)
    assert away.tolist() == list(range(5, 5 + length))
    assert blackout(length).offset is None


def test_several_intervals_can_be_hidden():
    assert np.flatnonzero(~hidden([(5, 2), (30, 1)])).tolist() == [5, 6, 30]


@pytest.mark.parametrize(("length", "start"), [(-1, 5), (122, 5), (1, -1), (1, 126)])
def test_out_of_range_blackout_is_refused(length, start):
    with pytest.raises(BadInput, match="does not fit"):
        blackout(length, start)


def test_noise_normals_have_the_published_check_values():
    expected = [[1.32237691, -1.05736746], [-0.480423, 0.1465285], [0.30868735, 1.93632594]]
    np.testing.assert_allclose(standard_normals(UNIT)[:3], expected, atol=5e-9)


def test_a_field_is_a_cubic_polynomial_in_each_coordinate():
    field = np.zeros((2, 10))
    field[0] = [1, 2, 3, 0, 0, 0, 0, 0, 0, 0]
    field[1] = [0, 0, 0, 1, 10, 100, 1000, 1e4, 1e5, 1e6]
    x, y = 2.0, 3.0
    terms = [x * x, x * y, y * y, x**3, x * x * y, x * y * y, y**3]
    expected = sum(10**k * term for k, term in enumerate(terms))
    assert field_error(field, x, y) == (1 + 2 * x + 3 * y, expected)


def test_what_does_not_happen_leaves_no_trace_in_the_record():
    record = CLEAR.record
    assert not record["has_offset"] and not record["has_field"] and not record["replaced"].any()
    assert record["reported"].all() and np.array_equal(record["source"], OWN)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Tracking(np.ones(5, bool)),
        lambda: Tracking(CLEAR.visible, np.full((OBSERVATIONS, 2), np.nan)),
        lambda: Tracking(CLEAR.visible, source=OWN + 1),
        lambda: Tracking(CLEAR.visible, source=OWN - 1),
        lambda: Tracking(CLEAR.visible, field=np.zeros((2, 3))),
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
