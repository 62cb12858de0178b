import pytest

from blindsave.errors import BadInput
from blindsave.play.faults import faults
from blindsave.task.conditions import CLEAN
from blindsave.task.shots import find

SHOT = find("validation:alias:038:near_post_left")


def test_the_slider_begins_with_nothing_and_every_stop_is_another_condition():
    stops = faults()
    assert stops[0].condition == CLEAN
    assert len({stop.condition for stop in stops}) == len({stop.label for stop in stops}) == len(stops)


def test_every_stop_can_be_played():
    for stop in faults():
        assert stop.condition.episode(SHOT, 20).shot.id == SHOT.id


def test_conditions_of_the_command_line_come_last_under_their_own_names():
    stops = faults(["latency_2+noise_5mm", "puck_drag_2", "puck_drag_2"])
    assert [stop.label for stop in stops[-2:]] == ["latency_2+noise_5mm", "puck_drag_2"]
    assert len(stops) == len(faults()) + 2
    with pytest.raises(BadInput, match="no condition `nonsense`"):
        faults(["nonsense"])
