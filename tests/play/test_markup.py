"""What the page says, and that nothing a visitor or a file says becomes markup."""

import numpy as np
import pytest

from blindsave.diagnostics.probe import Probe
from blindsave.play import markup
from blindsave.play.game import Conditions, Game, Score
from blindsave.play.roster import Probed
from blindsave.play.stage import LOST, SAVED
from blindsave.policies import load
from blindsave.task.outcomes import Outcome
from blindsave.task.shots import find

SHOT = find("validation:alias:038:near_post_left")


def named(name: str, **more) -> Probed:
    return Probed(name, 0, load("inactive"), "", **more)


def launched(*policies: Probed, steps: int = 0, conditions: Conditions | None = None) -> Game:
    game = Game()
    game.launch(SHOT, policies, conditions or Conditions())
    if steps:
        game.step(steps)
    return game


def test_before_the_first_shot_the_page_says_what_to_do():
    assert "Choose a shot and launch." in markup.status(Game())
    assert markup.timeline(Game()) == ""
    assert "No shots yet." in markup.scores({})


@pytest.mark.parametrize(("steps", "words"), [(0, "puck in sight"), (8, "puck hidden"), (60, "GOAL")])
def test_the_status_says_what_the_policy_is_shown_and_how_it_ended(steps, words):
    said = markup.status(launched(named("inactive"), steps=steps))
    assert words in said and "data-policy='inactive'" in said


def test_the_timeline_tells_how_long_the_puck_has_been_hidden():
    assert "in sight" in markup.timeline(launched(named("inactive")))
    assert "hidden for 80 ms" in markup.timeline(launched(named("inactive"), steps=8))
    assert "the end" in markup.timeline(launched(named("inactive"), steps=99))
    nothing = markup.timeline(launched(named("inactive"), conditions=Conditions(5, 0)))
    assert "width:0.00%" in nothing


def test_names_are_escaped_everywhere():
    evil = "<img src=x onerror='alert(1)'>"
    for said in (
        markup.status(launched(named(evil))),
        markup.scores({evil: Score(1, 2)}),
        markup.note(evil),
    ):
        assert "<img" not in said and "&lt;img" in said
        assert "'alert" not in said


def test_scores_are_saves_of_shots():
    said = markup.scores({"teacher": Score(3, 4), "inactive": Score(0, 4)})
    assert said.index("Teacher") < said.index("<b>3</b> of 4") < said.index("Does nothing")


@pytest.mark.parametrize(("reads", "source"), [("carry", "its memory"), ("observation", "its observation alone")])
def test_a_probed_policy_says_how_far_it_can_be_trusted(reads, source):
    figures = {"reads": reads, "mean_mm": 12.4}
    probe = Probe(np.zeros((2, 3), np.float32), np.zeros(2, np.float32), "x", "", figures)
    said = markup.status(launched(named("inactive", probe=probe)))
    assert f"believed puck, from {source}: 12 mm off on average" in said
    assert "believed" not in markup.status(launched(named("inactive")))


def test_every_outcome_has_words_and_a_colour():
    assert markup.said(Outcome.RUNNING) == ""
    for outcome in Outcome:
        assert "_" not in markup.said(outcome)
        assert (markup.colour_of(outcome) == SAVED) == outcome.saved
        assert (markup.colour_of(outcome) == LOST) == (outcome == Outcome.GOAL_CONCEDED)
        assert markup.said(outcome).startswith("SAVED") == outcome.saved


def test_a_note_of_nothing_says_nothing():
    assert markup.note("") == ""
