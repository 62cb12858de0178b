import numpy as np
import pytest
from recordings import made_up

from blindsave.draw import duel as duels
from blindsave.draw.canvas import BAD, GOOD, HIDDEN
from blindsave.draw.duel import Duel
from blindsave.draw.pictures import Style, film_length
from blindsave.errors import BadInput

STYLE = Style(640, 280, view="top")
NAMES = [("linear memory", "structured_k0/14303"), ("no memory", "feed_forward/14303")]


def painted(image, half: int, colour) -> int:
    part = image[:, 320 * half : 320 * (half + 1)][30:110]
    return int((np.abs(part - np.rint(np.array(colour) * 255)).max(axis=2) < 30).sum())


@pytest.fixture
def duel() -> Duel:
    saved, lost = made_up(outcome="returned", saved=True), made_up(outcome="goal_conceded", saved=False)
    return Duel([saved, lost], NAMES, "the same shot")


def test_each_side_says_what_it_sees_and_how_it_ended(duel):
    hidden, end = duel.frame(8, STYLE), duel.still(STYLE)
    assert hidden.shape == (280, 640, 3)
    assert min(painted(hidden, half, HIDDEN) for half in (0, 1)) > 100
    assert painted(end, 0, GOOD) > 100 > painted(end, 0, BAD)
    assert painted(end, 1, BAD) > 100 > painted(end, 1, GOOD)


def test_a_table_that_is_done_waits_for_the_other_and_is_drawn_once(duel, monkeypatch):
    short = made_up(outcome="returned", saved=True)
    drawn, draw = [], duels.pictures.scene_image

    def counted(recording, moment, *rest):
        drawn.append((recording is duel.recordings[0], moment))
        return draw(recording, moment, *rest)

    monkeypatch.setattr(duels.pictures, "scene_image", counted)
    cut = {name: getattr(short, name)[:11] for name in ("qpos", "visible", "seen")}
    duel.recordings[0] = type(short)(**cut, outcome="returned", saved=True)
    frames = list(duel.film(STYLE, fps=10, slower=1.0))
    assert len(duel) == 31 and len(frames) == film_length(31, 10, 1.0)
    assert [moment for first, moment in drawn if first] == [0, 5, 10]
    assert max(moment for first, moment in drawn if not first) == 30


def test_a_duel_has_two_sides():
    with pytest.raises(BadInput, match="two recordings"):
        Duel([made_up()], NAMES[:1], "alone")
