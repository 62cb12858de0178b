import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindsave.errors import BadInput
from blindsave.play import aim
from blindsave.task.shots import custom, shots

ANY = st.floats(allow_nan=True, allow_infinity=True)


def test_a_shot_flies_from_its_place_to_its_place_on_the_goal_line():
    shot = aim.own_shot(0.5, 0.3, -0.09, 2.0)
    assert (shot.x, shot.y) == (0.5, 0.3)
    assert shot.target_y == pytest.approx(-0.09, abs=1e-3) and shot.speed == pytest.approx(2.0, abs=1e-3)


@given(ANY, ANY, ANY, ANY)
def test_any_aim_is_a_playable_straight_shot_or_refused(x, y, target, speed):
    try:
        shot = aim.own_shot(x, y, target, speed)
    except BadInput:
        return
    assert shot.vx < 0 and aim.SLOWEST - 1e-3 <= shot.speed <= aim.FASTEST + 1e-3
    assert abs(shot.target_y) <= aim.REACH_Y_M + 2e-3, "no rail is in between"


def test_every_shot_of_the_study_is_at_the_goal_and_one_beside_it_is_not():
    assert all(aim.at_the_goal(shot) for split in ("calibration", "validation") for shot in shots(split))
    assert not aim.at_the_goal(aim.own_shot(0.5, 0.0, 0.12, 2.0))
    assert not aim.at_the_goal(custom((0.5, 0.0, -1.0, 0.4)))
