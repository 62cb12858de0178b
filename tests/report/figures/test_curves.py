"""Save rates as curves."""

from dataclasses import replace

import pytest

pytest.importorskip("matplotlib", reason="the extra `report` (matplotlib) is not installed")

from drawn import drawn, words

from blindsave.report.analysis import Analysis
from blindsave.report.figures import curves
from blindsave.report.figures.style import LIGHT
from blindsave.report.sheet import Estimate


def only(analysis: Analysis, *policies: str):
    test = analysis.main
    assert test is not None
    saved = {name: cells for name, cells in test.saves.saved.items() if name in policies}
    return replace(test, saves=replace(test.saves, saved=saved))


def test_rates_are_in_percent_over_milliseconds(analysis: Analysis):
    test = analysis.main
    assert test is not None
    found = curves.rate_curves(test, ["feed_forward"])["feed_forward"]
    assert list(found) == [0, 100, 200, 300, 400, 500]
    assert found[400].value == pytest.approx(44.4, abs=0.05)


def test_only_those_who_stay_near_the_top_are_looked_at_closely(analysis: Analysis):
    test = analysis.main
    assert test is not None
    close = words(drawn(curves.draw_close(test), (4.5, 3.6)))
    assert "k = 0" in close and "Teacher" in close and "Feed-forward" not in close
    wide = words(drawn(curves.draw_full(test), (4.5, 3.6)))
    assert {"Feed-forward", "stack", "k = 0", "Teacher"} <= set(wide) and "GRU-64" not in wide


def test_where_nobody_stays_near_the_top_all_are_shown(analysis: Analysis):
    assert "Feed-forward" in words(drawn(curves.draw_close(only(analysis, "feed_forward")), (4.5, 3.6)))


def test_a_study_without_the_papers_families_shows_its_own(analysis: Analysis):
    assert "GRU-64" in words(drawn(curves.draw_full(only(analysis, "gru_n64")), (4.5, 3.6)))


def test_differences_are_drawn_where_there_are_any(analysis: Analysis):
    test = analysis.main
    assert test is not None
    assert [panel.name for panel in curves.behaviour(analysis, test).panels] == ["f3a", "f3b", "f3c"]
    alone = replace(only(analysis, "feed_forward", "teacher"), contrasts={"primary": (), "secondary": ()})
    assert [panel.name for panel in curves.behaviour(analysis, alone).panels] == ["f3a", "f3b"]


def test_lengths_beyond_training_are_shaded_only_where_they_are(analysis: Analysis):
    test, short = analysis.main, analysis.splits["validation"]
    assert test is not None
    assert "beyond\ntraining" in words(drawn(curves.draw_full(test)))
    assert "beyond\ntraining" not in words(drawn(curves.draw_full(short)))


@pytest.mark.parametrize(("policy", "heights"), [("gru_n64", [3.0, 0.0]), ("teacher", [0.0, 0.0])])
def test_intervals_are_drawn_where_there_are_some_and_the_teacher_is_a_point(policy, heights):
    def draw(figure, theme):
        curves.errorbar(figure.subplots(), LIGHT, policy, [0, 1], [Estimate(90.0, 89.0, 92.0), Estimate(80.0)])

    (ax,) = drawn(draw).axes
    (bars,) = [artist for artist in ax.collections if hasattr(artist, "get_segments")]
    assert [segment[1][1] - segment[0][1] for segment in bars.get_segments()] == pytest.approx(heights)
