from blindsave.play.faults import FAULTS
from blindsave.task.episode import UNDISTURBED
from blindsave.task.shots import find

SHOT = find("validation:alias:038:near_post_left")


def test_the_slider_begins_with_nothing_and_every_stop_is_another_condition():
    assert FAULTS[0] == ("nothing", UNDISTURBED)
    assert len({fault.condition for fault in FAULTS}) == len({fault.label for fault in FAULTS}) == len(FAULTS)


def test_every_stop_can_be_played():
    for fault in FAULTS:
        episode = fault.condition.episode(SHOT, 20)
        assert (~episode.tracking.visible).sum() >= 20
