"""The arena from above."""

import numpy as np
import pytest
from recordings import made_up, yellow

from blindsave.draw import topdown
from blindsave.draw.canvas import NIGHT, Canvas


def on_table(pixels: np.ndarray) -> np.ndarray:
    """Without the arm, whose rings have a similar colour, in a picture of 568 by 264 pixels from above."""
    return pixels[pixels[:, 1] > 250]


def test_from_above_the_puck_is_drawn_where_it_is():
    qpos = made_up().qpos[0]
    image = topdown.table_image(qpos, 568, 264)
    rows, columns = on_table(yellow(image)).T
    plan = topdown.Plan.fit(Canvas(568, 264))
    x, y = plan.px(qpos[9:11])
    assert columns.mean() == pytest.approx(x, abs=1.5) and rows.mean() == pytest.approx(y, abs=1.5)


def test_from_above_a_hidden_puck_is_a_ghost():
    qpos = made_up().qpos[0]
    assert len(on_table(yellow(topdown.table_image(qpos, 568, 264)))) > 50
    assert len(on_table(yellow(topdown.table_image(qpos, 568, 264, hidden=True)))) == 0


def test_a_plan_shows_its_area_in_the_middle_with_y_upwards():
    plan = topdown.Plan.fit(Canvas(400, 100), (-1, 1, -1, 1))
    assert plan.scale == 50
    assert plan.px((0, 0)) == (200, 50)
    assert plan.px((0.5, 0.5)) == (225, 25)


def test_a_trail_tells_seen_from_hidden():
    def drawn(visible: bool) -> np.ndarray:
        canvas = Canvas(568, 264, NIGHT)
        topdown.draw_trail(topdown.Plan.fit(canvas), np.array([[0.3, 0.1]]), np.array([visible]))
        return canvas.image()

    assert len(yellow(drawn(True))) > 0 == len(yellow(drawn(False)))
    assert (drawn(False) != Canvas(568, 264, NIGHT).image()).any()
    with pytest.raises(ValueError, match="zip"):
        topdown.draw_trail(topdown.Plan.fit(Canvas(64, 64)), np.zeros((2, 2)), np.array([True]))


def test_beliefs_and_targets_are_drawn_where_they_are():
    for draw in (lambda plan: topdown.draw_beliefs(plan, np.array([[0.4, -0.2]])),
                 lambda plan: topdown.draw_target(plan, (0.4, -0.2))):  # fmt: skip
        canvas = Canvas(568, 264, NIGHT)
        plan = topdown.Plan.fit(canvas)
        draw(plan)
        rows, columns = np.nonzero((canvas.image() != Canvas(568, 264, NIGHT).image()).any(axis=2))
        assert (columns.mean(), rows.mean()) == pytest.approx(plan.px((0.4, -0.2)), abs=1)
    blank = Canvas(64, 64, NIGHT)
    topdown.draw_beliefs(topdown.Plan.fit(blank), np.zeros((0, 2)))
    assert (blank.image() == Canvas(64, 64, NIGHT).image()).all()
