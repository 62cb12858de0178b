import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindsave.errors import BadInput
from blindsave.play import aim

ANY = st.floats(allow_nan=True, allow_infinity=True)


def test_the_line_of_sight_meets_the_table():
    assert aim.on_table_plane((2.0, 0.0, 2.0), (1.0, 0.5, 1.0)) == pytest.approx((0.0, 1.0))


@pytest.mark.parametrize("point", [(1.0, 0.0, 2.0), (1.0, 0.0, 3.0), (1.0, 0.0, math.nan), (1.0, 0.0)])
def test_a_line_of_sight_that_misses_the_table_is_refused(point):
    with pytest.raises(BadInput):
        aim.on_table_plane((2.0, 0.0, 2.0), point)


def test_a_longer_drag_is_a_faster_shot_in_its_direction():
    slow, fast = aim.from_drag((0.5, 0.1), (0.1, 0.0)), aim.from_drag((0.5, 0.1), (-0.3, -0.1))
    assert slow.speed < fast.speed <= aim.FASTEST + 1e-3
    assert slow.angle_deg == pytest.approx(fast.angle_deg, abs=0.1)
    assert (slow.x, slow.y) == (0.5, 0.1)


@pytest.mark.parametrize("end", [(0.5, 0.1), (0.9, 0.1), (0.5, -0.4)])
def test_drags_that_are_no_shots_are_refused(end):
    with pytest.raises(BadInput):
        aim.from_drag((0.5, 0.1), end)


def test_sliders_aim_at_a_place_on_the_goal_line():
    shot = aim.from_sliders(0.3, -0.09, 2.0)
    assert shot.target_y == pytest.approx(-0.09, abs=1e-3) and shot.speed == pytest.approx(2.0, abs=1e-3)


@given(st.tuples(ANY, ANY), st.tuples(ANY, ANY))
def test_any_drag_is_a_playable_shot_or_refused(start, end):
    try:
        shot = aim.from_drag(start, end)
    except BadInput:
        return
    assert shot.vx < 0 and aim.SLOWEST - 1e-3 <= shot.speed <= aim.FASTEST + 1e-3


@given(ANY, ANY, ANY)
def test_any_slider_is_a_playable_shot_or_refused(launch, target, speed):
    try:
        shot = aim.from_sliders(launch, target, speed)
    except BadInput:
        return
    assert shot.vx < 0 and aim.SLOWEST - 1e-3 <= shot.speed <= aim.FASTEST + 1e-3


def test_the_camera_steps_back_on_a_narrow_window():
    from blindsave.play.session import BESIDE, seen_from

    assert seen_from(*BESIDE, 1400, 860) == pytest.approx(BESIDE[0])
    narrow = seen_from(*BESIDE, 420, 800)
    assert math.dist(narrow, BESIDE[1]) > 2 * math.dist(*BESIDE)
    assert seen_from(*BESIDE, 0, 10) == seen_from(*BESIDE, 1, 1e9)
