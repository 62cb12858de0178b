"""The picture of exchanged memories."""

import pytest

pytest.importorskip("matplotlib")

from blindsave.diagnostics.swap_figure import TITLES, draw


def row(policy, hidden_ms, estimate, how="exchange"):
    rate = {"estimate": estimate, "low": estimate - 0.1, "high": estimate + 0.1}
    return {"policy": policy, "hidden_ms": hidden_ms, "rate": rate, "how": how}


ROWS = [row("teacher", None, 0.9), row("teacher", 20, 0.5), row("teacher", 100, 0.25), row("gru_n64/1", 20, 0.75)]


def test_each_policy_is_a_line_in_percent_and_what_was_undisturbed_is_dotted():
    (axes,) = draw(ROWS).axes
    drawn = {line.get_label(): line for line in axes.lines}
    assert drawn["teacher"].get_xdata().tolist() == [20, 100]
    assert drawn["teacher"].get_ydata().tolist() == [50.0, 25.0]
    assert drawn["gru_n64/1"].get_ydata().tolist() == [75.0]
    (dotted,) = [line for line in axes.lines if line.get_linestyle() == ":"]
    assert set(dotted.get_ydata()) == {90.0}


@pytest.mark.parametrize("how", TITLES)
def test_the_title_says_what_was_done(how):
    (axes,) = draw([row("teacher", 20, 0.5, how)]).axes
    assert axes.get_title() == TITLES[how]


def test_intervals_are_shaded():
    (axes,) = draw(ROWS).axes
    assert len(axes.collections) == 2
    heights = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == pytest.approx((15.0, 60.0))
