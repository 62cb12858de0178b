"""Labels that do not cover one another."""

import itertools

import pytest

pytest.importorskip("matplotlib", reason="the extra `report` (matplotlib) is not installed")

from drawn import drawn

from blindsave.report.figures.labels import place_labels, stack_labels

NAMES = ("a", "b", "c", "d")
TEXTS = {name: f"label {name}" for name in NAMES}
COLOURS = dict.fromkeys(NAMES, "#000000")


def stacked(ends: dict[str, float], gap: float = 6.0) -> dict[str, float]:
    """Where labels end up, by text."""

    def draw(figure, theme):
        ax = figure.subplots()
        ax.set(xlim=(0, 10), ylim=(0, 100))
        stack_labels(ax, ends, 8.0, TEXTS, COLOURS, gap)

    (ax,) = drawn(draw).axes
    return {text.get_text(): text.get_position()[1] for text in ax.texts}


def test_labels_that_have_room_stay_where_their_curves_end():
    ends = {"a": 10.0, "b": 50.0, "c": 90.0}
    assert stacked(ends) == {TEXTS[name]: y for name, y in ends.items()}


@pytest.mark.parametrize("ends", [(98.0, 98.0, 98.0, 98.0), (50.0, 51.0, 52.0, 99.0), (10.0, 9.0, 60.0, 61.0)])
def test_neighbours_are_moved_apart_in_the_order_of_their_curves(ends):
    given = dict(zip(NAMES, ends, strict=True))
    found = stacked(given)
    places = sorted(found.values())
    assert all(above - below >= 6.0 - 1e-3 for below, above in itertools.pairwise(places))
    assert sum(places) == pytest.approx(sum(ends))  # moved as little up as down
    order = sorted(NAMES, key=lambda name: given[name])
    assert sorted(found, key=lambda text: found[text]) == [TEXTS[name] for name in order]


def placed(points: dict[str, tuple[float, float]], others=()):
    def draw(figure, theme):
        ax = figure.subplots()
        ax.set(xlim=(0, 10), ylim=(0, 10))
        place_labels(ax, points, TEXTS, COLOURS, "#ffffff", others)

    figure = drawn(draw)
    figure.draw_without_rendering()
    (ax,) = figure.axes
    return ax, {text.get_text(): text.get_window_extent() for text in ax.texts}


def test_labels_of_close_points_cover_neither_one_another_nor_the_frame():
    points = {"a": (5.0, 5.0), "b": (5.1, 5.0), "c": (5.0, 5.2), "d": (9.9, 9.9)}
    ax, boxes = placed(points)
    assert boxes.keys() == set(TEXTS.values())
    pairs = itertools.combinations(boxes.values(), 2)
    assert not any(one.shrunk(0.9, 0.75).overlaps(other.shrunk(0.9, 0.75)) for one, other in pairs)
    frame = ax.get_window_extent()
    assert all(frame.x0 - 1 <= box.x0 and box.x1 <= frame.x1 + 1 for box in boxes.values())


def test_a_lonely_label_needs_no_line_to_its_point():
    ax, _ = placed({"a": (5.0, 5.0)})
    assert [text.arrow_patch for text in ax.texts] == [None]


def test_a_label_pushed_away_keeps_a_line_to_its_point():
    crowd = [(5 + dx / 4, 5 + dy / 4) for dx in range(-6, 7) for dy in range(-6, 7)]
    ax, _ = placed({"a": (5.0, 5.0)}, crowd)
    assert ax.texts[0].arrow_patch is not None
