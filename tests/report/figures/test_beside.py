"""Paper and ours side by side."""

import pytest

pytest.importorskip("matplotlib", reason="the extra `report` (matplotlib) is not installed")

from drawn import drawn

from blindsave.report.analysis import Analysis
from blindsave.report.figures.beside import draw_beside
from blindsave.report.figures.style import LIGHT
from blindsave.report.names import ordered, title
from blindsave.report.published import rate


def test_every_policy_has_its_line_and_the_papers_point_lies_where_it_was_published(analysis: Analysis):
    test = analysis.principal_test
    assert test is not None
    (ax,) = drawn(draw_beside(analysis, test), (6.4, 3.9)).axes
    policies = ordered(test.saves.saved)
    assert [label.get_text() for label in ax.get_yticklabels()] == [title(policy) for policy in policies]
    theirs = [line for line in ax.lines if line.get_marker() == "D" and line.get_color() == LIGHT.muted]
    assert [line.get_xdata()[0] for line in theirs] == [rate(policy, 20).value for policy in policies]
    assert ax.get_xlim()[0] < min(line.get_xdata().min() for line in ax.lines)
    assert "400 ms" in ax.get_title(loc="left")
