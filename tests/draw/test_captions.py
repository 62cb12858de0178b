"""Words and bars over pictures."""

import numpy as np
import pytest
from recordings import made_up

from blindsave.draw import captions
from blindsave.draw.canvas import BAD, GOOD, NIGHT, PAPER, Canvas
from blindsave.draw.recording import Recording


def test_the_timeline_shows_as_much_hidden_time_as_there_was():
    shares = []
    for length in (0, 6, 12):
        canvas = Canvas(600, 80)
        captions.timeline(canvas, made_up(hidden=(5, 5 + length)), 30, (10, 10), (590, 70))
        row = canvas.image()[12].astype(int)
        shares.append(int(((row[:, 0] > 220) & (row[:, 2] < 90)).sum()))
    assert shares[0] > shares[1] > shares[2]
    assert shares[0] - shares[1] == pytest.approx(shares[1] - shares[2], rel=0.2)


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        ("safe_deflection", "saved: deflected wide"),
        ("goal_conceded", "goal conceded"),
        ("timeout_after_contact", "timeout after contact"),
        ("", ""),
    ],
)
def test_outcomes_are_said_in_words(outcome, words):
    assert captions.outcome_words(made_up(outcome=outcome)) == words


def test_only_a_save_is_green():
    assert captions.outcome_colour(made_up(saved=True)) == GOOD
    assert captions.outcome_colour(made_up(saved=False)) == captions.outcome_colour(made_up(saved=None)) == BAD


@pytest.mark.parametrize(("anchor", "side"), [("l", 1), ("m", 0), ("r", -1)])
def test_a_pill_lies_beside_its_point(anchor, side):
    canvas = Canvas(400, 60, NIGHT)
    captions.pill(canvas, (200, 30), "saved", 16, GOOD, PAPER, anchor)
    columns = np.flatnonzero((canvas.image() != Canvas(400, 60, NIGHT).image()).any(axis=(0, 2)))
    assert np.sign(round((columns.mean() - 200) / 10)) == side
    assert abs(columns.max() - columns.min()) > 30


def timeline_of(recording, now=30.0) -> np.ndarray:
    canvas = Canvas(600, 80)
    captions.timeline(canvas, recording, now, (10, 10), (590, 70))
    return canvas.image()


def test_the_mark_moves_with_time_and_contact_is_drawn():
    assert (timeline_of(made_up(), 3) != timeline_of(made_up(), 20)).any()
    assert (timeline_of(made_up(), 3) != timeline_of(made_up(first_contact=20), 3)).any()


def test_a_recording_of_one_moment_has_a_timeline():
    qpos = made_up().qpos[:1]
    single = Recording(qpos, np.ones(1, bool), qpos[:, 9:11])
    assert timeline_of(single, 0).shape == (80, 600, 3)
