"""Colours and markers."""

import colorsys
import re

import numpy as np
import pytest

from blindsave.draw.canvas import HIDDEN
from blindsave.draw.policy_looks import LOOKS, look
from blindsave.play.server import COLOURS
from blindsave.report.figures.style import DARK, LIGHT, ROLES, rc, variables


def test_colours_stand_out_from_their_ground():
    def luminance(colour: str) -> float:
        parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    for theme in (LIGHT, DARK):
        ground = luminance(theme.ground)
        for colour, least in [(theme.ink, 7.0), (theme.muted, 4.5), *((theme.series(p), 3.0) for p in LOOKS)]:
            bright, dim = sorted((luminance(colour), ground), reverse=True)
            assert (bright + 0.05) / (dim + 0.05) >= least, (theme.name, colour)


def test_students_differ_in_colour_and_in_marker():
    families = [name for name in LOOKS if name not in ("teacher_sampled", "ppo")]
    for kind in ("light", "dark", "marker"):
        assert len({getattr(look(name), kind) for name in families}) == len(families)
    assert len({drawn for drawn, _, _ in variables().values()}) == len(variables())


def test_every_colour_that_is_drawn_can_be_swapped_by_a_page():
    drawn = {light for light, _, _ in variables().values()}
    assert {getattr(LIGHT, role) for role in ROLES} <= drawn
    assert {look(name).light for name in LOOKS} <= drawn


def test_variables_have_a_dark_side_of_their_own():
    for name, (drawn, light, dark) in variables().items():
        assert drawn == light and re.fullmatch(r"--[a-z0-9-]+", name)
        assert re.fullmatch(r"#[0-9a-f]{6}", dark)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_settings_follow_the_theme(theme):
    settings = rc(theme)
    assert (settings["text.color"], settings["figure.facecolor"]) == (theme.ink, theme.ground)
    assert settings["svg.fonttype"] == "none"  # text stays text


def test_an_unknown_policy_keeps_its_colour():
    assert LIGHT.series("lru_n32") == LIGHT.series("lru_n32") not in {look(name).light for name in LOOKS}
    assert LIGHT.series("lru_n32") != DARK.series("lru_n32")


def test_hidden_has_one_colour_in_films_in_the_live_arena_and_here():
    told = "#" + "".join(f"{round(255 * part):02x}" for part in HIDDEN)
    assert DARK.hidden == told == "#d945f0" and COLOURS["hidden"] == HIDDEN
    hues = [colorsys.rgb_to_hls(*(int(one[i : i + 2], 16) / 255 for i in (1, 3, 5)))[0] for one in (told, LIGHT.hidden)]
    assert abs(hues[0] - hues[1]) < 0.03, "on white a darker shade of it"
