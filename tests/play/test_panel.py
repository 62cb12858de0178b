"""Controls read back as plain values, whatever a page has sent."""

import pytest
from page import Gui

from blindsave.errors import BadInput
from blindsave.play.game import Conditions
from blindsave.play.panel import NOBODY, Panel

NAMES = ("structured_k0/14303", "feed_forward/14303", "privileged")
PAIRS = ("validation:alias:001", "validation:alias:038")


@pytest.fixture
def panel():
    said = []
    made = Panel(Gui(), NAMES, (NAMES[0], NAMES[1]), PAIRS, said.append)
    made.said = said
    return made


def test_the_first_page_offers_the_pair_and_the_blackout_of_the_study(panel):
    assert panel.policies == [NAMES[0], NAMES[1]]
    assert panel.conditions == Conditions(5, 20, 0.0)
    assert panel.family == PAIRS[1]
    assert panel.own_aim == (0.2, -0.09, 2.2) and panel.pace == 1.0


def test_without_the_usual_pair_the_first_is_chosen():
    assert Panel(Gui(), NAMES, (NAMES[0], NAMES[2]), PAIRS[:1], print).family == PAIRS[0]


def test_nobody_leaves_one_table(panel):
    panel.gui.controls["Right"].value = NOBODY
    assert panel.policies == [NAMES[0]]


def test_a_name_nobody_offers_becomes_no_name(panel):
    panel.gui.controls["Left"].value = "/etc/passwd"
    panel.gui.controls["Right"].value = None
    assert panel.policies == ["", ""]


@pytest.mark.parametrize(("start", "length", "steps"), [(110, 90, (6, 4)), (0, 1000, (0, 50)), ("100", "20", (5, 1))])
def test_milliseconds_become_whole_steps(panel, start, length, steps):
    panel.gui.controls["From (ms)"].value, panel.gui.controls["For (ms)"].value = start, length
    assert (panel.conditions.blackout_start, panel.conditions.blackout_steps) == steps


def test_impossible_conditions_are_refused_when_they_are_read(panel):
    panel.gui.controls["For (ms)"].value = -100
    with pytest.raises(BadInput, match="a blackout needs"):
        _ = panel.conditions
    panel.gui.controls["For (ms)"].value = float("inf")
    with pytest.raises(OverflowError):
        _ = panel.conditions


def test_controls_only_leave_a_command(panel):
    for label in ("Launch at the left post", "Shoot", "Launch this shot", "Same shot again with these", "Speed"):
        panel.gui.controls[label].use()
    panel.gui.controls["Show"].value = "Step"
    panel.gui.controls["Show"].use()
    assert panel.said == ["twin_left", "aim", "shot_id", "again", "speed", "step"]


def test_a_shot_id_is_read_without_the_spaces_around_it(panel):
    panel.gui.controls["Shot id"].value = "  custom \n"
    assert panel.shot_id == "custom"
