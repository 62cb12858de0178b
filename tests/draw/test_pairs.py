"""Two shots of a pair in one picture."""

import numpy as np
import pytest
from recordings import made_up

from blindsave.draw import pairs
from blindsave.draw.recording import Recording
from blindsave.errors import BadInput


def test_a_pair_is_drawn_in_two_colours_that_part():
    image = pairs.pair_image(made_up(slope=0.07), made_up(slope=-0.07), "pair", width=700).astype(int)
    for colour in (pairs.FIRST, pairs.SECOND):
        assert (np.abs(image - np.rint(np.array(colour) * 255)).max(axis=2) < 8).sum() > 100


def test_a_pair_needs_a_common_blackout():
    with pytest.raises(BadInput, match="blackout of at least one step"):
        pairs.pair_image(made_up(hidden=(5, 5)), made_up(), "pair")
    with pytest.raises(BadInput, match="same observation"):
        pairs.pair_image(made_up(), made_up(hidden=(6, 15)), "pair")


def test_a_pair_shows_when_tracking_comes_back():
    short, long = (pairs.pair_image(made_up(hidden=(5, end)), made_up(hidden=(5, end)), "") for end in (10, 20))
    assert (short != long).any()


def test_a_path_ends_on_the_goal_line_or_where_it_ends():
    through = pairs._until_goal(made_up())
    assert through[-1, 0] == pytest.approx(pairs.GOAL_X) and (through[:-1, 0] >= pairs.GOAL_X).all()
    held = made_up()
    stopped = Recording(held.qpos[:10], held.visible[:10], held.seen[:10])
    np.testing.assert_array_equal(pairs._until_goal(stopped), stopped.puck)


def test_the_width_asked_for_is_the_width_given():
    for width in (400, 900):
        assert pairs.pair_image(made_up(), made_up(slope=-0.1), "pair", width).shape[1] == width
