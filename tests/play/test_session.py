"""One visitor: commands are carried out in their turn, and nonsense is told to its sender only."""

from types import SimpleNamespace

import pytest
from page import Client

from blindsave.errors import BadInput
from blindsave.play import session as sessions
from blindsave.play.panel import LEFT_POST, NOBODY
from blindsave.play.roster import Roster
from blindsave.play.session import ALONE, APART_M, BESIDE, MOST_COMMANDS, Session, playable, seen_from
from blindsave.task.outcomes import Outcome


@pytest.fixture
def session() -> Session:
    made = Session(Client(), Roster())
    made.client.gui.controls["Left"].value = "Sees everything"
    made.client.gui.controls["Right"].value = "Does nothing"
    return made


def press(session: Session, label: str) -> None:
    session.client.gui.controls[label].use()
    session.tick()


def play_out(session: Session) -> None:
    for _ in range(200):
        session.tick()
        if session.game.finished:
            return
    pytest.fail("the shot does not end")


def test_a_button_launches_the_chosen_twin_and_the_page_tells_how_it_ends(session):
    press(session, LEFT_POST)
    take = session.game.take
    assert take is not None and take.shot.id.endswith("alias:038:near_post_left")
    play_out(session)
    session.tick()
    status = session.panel.status.content
    assert "data-policy='inactive' data-outcome='goal_conceded'" in status and "Sees everything" in status
    assert session.game.scores["inactive"].shots == 1
    assert session.stages[1].banner.text == "GOAL" and session.stages[1].banner.visible


def test_one_table_stands_in_the_middle_and_two_side_by_side(session):
    press(session, LEFT_POST)
    places = [stage.base.position[1] for stage in session.stages]
    assert places == [-APART_M, APART_M] and session.stages[1].base.visible
    assert session.client.camera.look_at == BESIDE[1]
    session.client.gui.controls["Right"].value = NOBODY
    press(session, LEFT_POST)
    assert session.stages[0].base.position[1] == 0.0 and not session.stages[1].base.visible
    assert session.client.camera.look_at == ALONE[1]
    assert session.stages[0].name.text == "Sees everything"


def test_an_own_shot_and_a_typed_one_are_launched(session):
    press(session, "Shoot")
    assert session.game.take.shot.id.startswith("custom:")
    session.client.gui.controls["Shot id"].value = " calibration:alias:001:near_post_right "
    press(session, "Launch this shot")
    assert session.game.take.shot.id.endswith("calibration:alias:001:near_post_right")


@pytest.mark.parametrize(
    ("control", "value", "button", "told"),
    [
        ("Shot id", "principal_test:alias:001:near_post_left", "Launch this shot", "the tests stay closed"),
        ("Shot id", "<script>alert(1)</script>", "Launch this shot", "is not a shot id"),
        ("Noise (mm)", 1e9, LEFT_POST, "noise must be between"),
        ("For (ms)", float("nan"), LEFT_POST, "that cannot be played"),
        ("For (ms)", float("inf"), LEFT_POST, "that cannot be played"),
        ("Noise (mm)", "loud", LEFT_POST, "that cannot be played"),
        ("Left", "/etc/passwd", LEFT_POST, "no such policy here"),
    ],
)
def test_nonsense_is_told_and_changes_nothing(session, control, value, button, told):
    session.client.gui.controls[control].value = value
    press(session, button)
    assert told in session.panel.note.content and "<script>" not in session.panel.note.content
    assert session.game.take is None and session.refused == 1
    session.say("no_such_command")
    session.tick()
    assert session.refused == 1


def test_a_repeat_without_a_shot_is_refused_and_the_note_goes_with_the_next_command(session):
    press(session, "Same shot again with these")
    assert "no shot to repeat" in session.panel.note.content
    press(session, LEFT_POST)
    assert session.panel.note.content == ""


def test_a_flood_of_commands_is_forgotten_from_its_start_and_done_in_portions(session):
    for _ in range(10 * MOST_COMMANDS):
        session.say("pause")
    assert len(session._commands) == MOST_COMMANDS
    session.tick()
    assert len(session._commands) == MOST_COMMANDS - sessions.COMMANDS_PER_TICK


def test_time_is_paused_stepped_replayed_and_slowed(session):
    press(session, LEFT_POST)
    group = session.client.gui.controls["Show"]
    for choice, moment in (("Pause", 1.0), ("Step", 2.0), ("Back", 1.0), ("Replay", 1.0)):
        group.value = choice
        press(session, "Show")
        assert session.game.moment == moment, choice
    session.client.gui.controls["Speed"].value = 0.5
    press(session, "Speed")
    assert session.game.speed == 0.5 and session.game.moment == 1.5
    group.value = "Explode"
    press(session, "Show")
    assert session.refused == 0


def test_a_drag_shows_an_arrow_and_its_end_shoots(session):
    surface, stage = session.stages[0].surface, session.stages[0]
    across = stage.base.position[1]

    def drag(phase):
        camera = SimpleNamespace(position=(0.0, across, 3.0))
        start, end = (0.5, across + 0.1, 0.0), (0.2, across, 0.0)
        surface.use(SimpleNamespace(
            client=SimpleNamespace(camera=camera), phase=phase, start_position=start, end_position=end,
        ))  # fmt: skip
        session.tick()

    drag("update")
    assert stage.aim.visible and session.game.take is None
    assert stage.aim.points[0, 0].tolist() == pytest.approx([0.5, 0.1, 0.02], abs=1e-6)
    drag("end")
    assert not stage.aim.visible
    assert session.game.take is not None and session.game.take.shot.vx < 0


def test_a_table_at_rest_has_its_robot_and_its_puck(session):
    assert session.game.outcome(0) == Outcome.RUNNING
    assert session.stages[0].puck_frame.position[0] > 0.4
    session.tick()
    assert "Choose a shot and launch." in session.panel.status.content


def test_only_shots_that_are_no_test_can_be_played():
    assert playable("validation:alias:038:near_post_left").alias_family
    for name in ("test", "principal_test", "noise_test"):
        with pytest.raises(BadInput, match="the tests stay closed"):
            playable(f"{name}:alias:001:near_post_left")
    with pytest.raises(BadInput, match="not a shot id"):
        playable("x" * 10_000)


def test_a_camera_steps_back_from_a_high_window_but_not_for_ever():
    place, centre = (2.0, 0.0, 2.0), (0.0, 0.0, 0.0)
    assert seen_from(place, centre, 1600, 900) == place
    assert seen_from(place, centre, 600, 1000) == pytest.approx((4.0, 0.0, 4.0))
    assert seen_from(place, centre, 0, 1000) == pytest.approx((6.0, 0.0, 6.0))
