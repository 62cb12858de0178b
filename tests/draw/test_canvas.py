import numpy as np
import pytest

from blindsave.draw.canvas import Canvas, text_width
from blindsave.errors import BadInput

WHITE, BLACK = (1.0, 1.0, 1.0), (0.0, 0.0, 0.0)


def ink(canvas: Canvas) -> float:
    """White pixels on black, partly covered ones counted in part."""
    return float(canvas.pixels[..., 0].sum())


def board(width: int = 100, height: int = 80) -> Canvas:
    return Canvas(width, height, BLACK)


def test_shapes_cover_their_area():
    for draw, area in (
        (lambda b: b.disc((50, 40), 20, WHITE), np.pi * 400),
        (lambda b: b.ring((50, 40), 20, 4, WHITE), 2 * np.pi * 20 * 4),
        (lambda b: b.box((10, 20), (70, 50), WHITE), 60 * 30),
        (lambda b: b.line((20, 40), (80, 40), 10, WHITE), 60 * 10 + np.pi * 25),
    ):
        canvas = board()
        draw(canvas)
        assert ink(canvas) == pytest.approx(area, rel=0.02)


def test_transparency_mixes_with_what_is_below():
    canvas = board()
    canvas.box((0, 0), (100, 80), WHITE, alpha=0.25)
    assert canvas.image()[40, 50].tolist() == [64, 64, 64]


def test_a_dashed_path_has_about_half_the_ink():
    solid, dashed = board(), board()
    points = [(5.0, 10.0), (50.0, 10.0), (50.0, 70.0)]
    solid.path(points, 2, WHITE)
    dashed.path(points, 2, WHITE, dash=8)
    assert 0.35 < ink(dashed) / ink(solid) < 0.75


def test_shapes_outside_leave_the_picture_alone():
    canvas = board()
    canvas.disc((-50, -50), 20, WHITE)
    canvas.line((200, 10), (300, 10), 5, WHITE)
    canvas.box((500, 500), (600, 600), WHITE)
    canvas.text((-500, -500), "nobody", 20, WHITE)
    canvas.text((500, 500), "nobody", 20, WHITE)
    assert ink(canvas) == 0


def test_text_is_written_whole_wherever_it_is_anchored():
    amounts = []
    for size in (13.0, 16.7):
        for anchor, at in (("la", (20.3, 20.6)), ("mm", (100.5, 40.2)), ("rs", (180.9, 60.4)), ("ma", (100.2, 20.9))):
            canvas = board(200, 80)
            canvas.text(at, "0 ms gap", size, WHITE, anchor)
            amounts.append(ink(canvas) / size**2)
    assert max(amounts) / min(amounts) < 1.15
    assert text_width("0 ms gap", 26) > 1.8 * text_width("0 ms gap", 13)


def test_a_pasted_picture_keeps_its_pixels():
    image = np.random.default_rng(0).integers(0, 256, (20, 30, 3), dtype=np.uint8)
    canvas = board()
    canvas.paste(image, (10, 5))
    np.testing.assert_array_equal(canvas.image()[5:25, 10:40], image)


def test_too_small_a_picture_is_refused():
    with pytest.raises(BadInput, match="at least 16 by 16"):
        Canvas(4, 100)
