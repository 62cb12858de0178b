"""Several teachers in one picture."""

import pytest

pytest.importorskip("matplotlib", reason="the extra `report` (matplotlib) is not installed")

from drawn import drawn, words
from placed_teachers import placed

from blindsave.report.analysis import Analysis
from blindsave.report.figures.teachers import DRAWN, draw_trait, in_words, teachers
from blindsave.report.rank_correlation import RankCorrelation
from blindsave.report.teachers import TRAITS

ELEVEN = tuple(
    placed(7300 + i, 0.03 + 0.004 * (i % 5), 0.7 * i - 2, "terminate" if i < 3 else "truncate") for i in range(11)
)
BY_NAME = {trait.name: trait for trait in TRAITS}


def test_there_is_a_panel_for_every_drawn_trait(analysis: Analysis):
    plate = teachers(analysis, ELEVEN)
    assert len(plate.panels) == len(DRAWN) == 4 and "not part of the rank correlations" in plate.caption


def test_every_teacher_is_named_and_the_paper_is_marked(analysis: Analysis):
    figure = drawn(draw_trait(analysis, ELEVEN, BY_NAME["label_variance"], "a"), (4.5, 3.5))
    assert {"paper", *(str(7300 + i) for i in range(11))} <= set(words(figure))
    (ax,) = figure.axes
    low, high = ax.get_ylim()
    assert low < -4 and high > 19.35  # intervals are inside


def test_teachers_trained_in_two_ways_are_told_apart(analysis: Analysis):
    (ax,) = drawn(draw_trait(analysis, ELEVEN, BY_NAME["distance"], "b"), (4.5, 3.5)).axes
    circles = [line for line in ax.lines if line.get_marker() == "o"]
    filled = [line for line in circles if line.get_markerfacecolor() == line.get_markeredgecolor()]
    assert len(circles) == 11 and len(filled) == 8


def test_where_the_papers_trait_is_unknown_its_deficit_is_a_line(analysis: Analysis):
    (ax,) = drawn(draw_trait(analysis, ELEVEN, BY_NAME["change_hidden"], "d"), (4.5, 3.5)).axes
    assert not [line for line in ax.lines if line.get_marker() == "D"]
    assert any(list(line.get_ydata()) == [12.36, 12.36] for line in ax.lines)


def test_a_correlation_is_said_with_its_interval_where_there_is_one():
    assert in_words(RankCorrelation(3, 0.5, p=1.0)) == "ρ = +0.50, p = 1.00 (3 teachers)"
    assert in_words(RankCorrelation(9, -0.5, -0.9, 0.2, 0.14)) == "ρ = −0.50 [−0.90, 0.20], p = 0.14 (9 teachers)"
    assert in_words(RankCorrelation(9, 1.0, p=0.0001)) == "ρ = +1.00, p < 0.01 (9 teachers)"
    assert in_words(RankCorrelation(3, None)) == "No rank correlation (3 teachers)"
