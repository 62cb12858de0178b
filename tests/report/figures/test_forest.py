"""The forest plot of paired differences."""

from dataclasses import replace

import pytest

pytest.importorskip("matplotlib", reason="the extra `report` (matplotlib) is not installed")

from drawn import drawn, words

from blindsave.report.analysis import Analysis, percent
from blindsave.report.figures.forest import LARGE, SMALL, draw_forest, drawn_differences
from blindsave.report.names import pair


def test_large_and_small_differences_have_scales_of_their_own(analysis: Analysis):
    test = analysis.main
    assert test is not None
    figure = drawn(draw_forest(analysis, *drawn_differences(analysis, test)), (9.0, 3.6))
    large, small = figure.axes
    assert [label.get_text() for label in large.get_yticklabels()] == [pair(a, b) for a, b in LARGE]
    assert [label.get_text() for label in small.get_yticklabels()] == [pair(a, b) for a, b in SMALL]
    assert large.get_xlim()[1] > 3 * small.get_xlim()[1]


def test_every_difference_is_also_written_in_figures(analysis: Analysis):
    test = analysis.main
    assert test is not None
    said = words(drawn(draw_forest(analysis, *drawn_differences(analysis, test)), (9.0, 3.6)))
    for a, b in (*LARGE, *SMALL):
        number = percent(test.principal.difference(a, b, 20, analysis.margin), True)
        assert f"{number.point} {number.span}" in said
    assert any("at 400 ms" in text for text in said)


def test_a_study_with_one_pair_has_one_panel(analysis: Analysis):
    test = analysis.main
    assert test is not None
    saved = {name: test.saves.saved[name] for name in ("structured_k0", "gru_n64")}
    few = replace(test, saves=replace(test.saves, saved=saved))
    (ax,) = drawn(draw_forest(analysis, *drawn_differences(analysis, few)), (9.0, 3.6)).axes
    assert [label.get_text() for label in ax.get_yticklabels()] == ["k = 0 − GRU-64"]
