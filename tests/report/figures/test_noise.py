"""The noise figure."""

from dataclasses import replace

import pytest

pytest.importorskip("matplotlib", reason="the extra `report` (matplotlib) is not installed")

from drawn import drawn, words

from blindsave.report.analysis import Analysis
from blindsave.report.figures.noise import draw_noise


def test_there_is_one_panel_per_blackout_and_one_curve_per_policy(analysis: Analysis):
    assert analysis.noise is not None
    figure = drawn(draw_noise(analysis.noise), (6.4, 3.7))
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["Puck always visible", "Hidden for 400 ms"]
    assert {"Structured k = 0", "Structured k = 4", "GRU-64", "Teacher"} <= set(words(figure))
    for ax in figure.axes:
        assert [label.get_text() for label in ax.get_xticklabels()] == ["0", "1", "5"]
        assert len(ax.containers) == 4


def test_disturbances_of_other_kinds_are_left_out_and_levels_are_sorted(analysis: Analysis):
    noise = analysis.noise
    assert noise is not None
    turned = replace(noise, saves=replace(noise.saves, disturbances=("noise_5mm", "puck_drag_2", "clean")))
    for ax in drawn(draw_noise(turned), (6.4, 3.7)).axes:
        assert [label.get_text() for label in ax.get_xticklabels()] == ["0", "5"]
