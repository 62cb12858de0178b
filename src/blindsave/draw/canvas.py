"""A small anti-aliased drawing board in NumPy; only text needs Pillow (extra `report`).

Pillow could draw the shapes as well, but then `render_mode="rgb_array"` would need an extra on machines without OpenGL.
Every shape is a signed distance in pixels (negative inside) turned into coverage; x runs right, y runs down.
"""

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from blindsave.errors import BadInput

Colour = tuple[float, float, float]
Point = tuple[float, float]

# One palette for all pictures, films and the live arena; the report has shades of HIDDEN for the ground of its page.
# The two members of a pair and good/bad differ in brightness as well as in hue.
INK, PAPER, MIST = (0.07, 0.08, 0.11), (0.94, 0.96, 0.98), (0.58, 0.64, 0.72)
NIGHT, SLATE = (0.085, 0.098, 0.125), (0.16, 0.18, 0.22)
SEEN, HIDDEN, BELIEVED, WANTED = (1.0, 0.80, 0.16), (0.85, 0.27, 0.94), (0.22, 0.74, 0.97), (0.13, 0.90, 0.35)
GOOD, BAD, ACCENT = (0.13, 0.66, 0.45), (0.86, 0.25, 0.22), (1.0, 0.50, 0.10)


class Canvas:
    """An RGB picture that shapes are painted onto, one over the other."""

    def __init__(self, width: int, height: int, colour: Colour = NIGHT) -> None:
        if width < 16 or height < 16:
            raise BadInput(f"a picture must be at least 16 by 16 pixels, got {width} by {height}")
        self.width, self.height = width, height
        self.pixels = np.empty((height, width, 3), np.float32)
        self.pixels[:] = colour

    def image(self) -> np.ndarray:
        """Return the picture as uint8 (height, width, 3)."""
        return np.rint(np.clip(self.pixels, 0, 1) * 255).astype(np.uint8)

    def _patch(self, low: Point, high: Point) -> tuple[slice, slice, np.ndarray, np.ndarray]:
        x0, y0 = max(int(low[0]) - 2, 0), max(int(low[1]) - 2, 0)
        x1, y1 = min(int(high[0]) + 3, self.width), min(int(high[1]) + 3, self.height)
        rows, columns = slice(y0, max(y1, y0)), slice(x0, max(x1, x0))
        x = np.arange(columns.start, columns.stop, dtype=np.float32)[None, :] + 0.5
        y = np.arange(rows.start, rows.stop, dtype=np.float32)[:, None] + 0.5
        return rows, columns, x, y

    def _paint(self, rows: slice, columns: slice, coverage: np.ndarray, colour: Colour, alpha: float) -> None:
        weight = (np.clip(coverage, 0, 1) * alpha)[..., None]
        below = self.pixels[rows, columns]
        below += weight * (np.asarray(colour, np.float32) - below)

    def disc(self, at: Point, radius: float, colour: Colour, alpha: float = 1.0) -> None:
        """Fill a circle."""
        rows, columns, x, y = self._patch((at[0] - radius, at[1] - radius), (at[0] + radius, at[1] + radius))
        self._paint(rows, columns, radius + 0.5 - np.hypot(x - at[0], y - at[1]), colour, alpha)

    def ring(self, at: Point, radius: float, width: float, colour: Colour, alpha: float = 1.0, dashes: int = 0) -> None:
        """Stroke a circle, in `dashes` equal dashes if any."""
        reach = radius + width
        rows, columns, x, y = self._patch((at[0] - reach, at[1] - reach), (at[0] + reach, at[1] + reach))
        coverage = width / 2 + 0.5 - np.abs(np.hypot(x - at[0], y - at[1]) - radius)
        if dashes:
            turn = np.arctan2(y - at[1], x - at[0]) * dashes / (2 * np.pi)
            coverage = np.where(turn % 1 < 0.55, coverage, 0)
        self._paint(rows, columns, coverage, colour, alpha)

    def box(self, low: Point, high: Point, colour: Colour, alpha: float = 1.0, radius: float = 0.0) -> None:
        """Fill a rectangle with rounded corners."""
        rows, columns, x, y = self._patch(low, high)
        dx = np.maximum(low[0] + radius - x, x - high[0] + radius)
        dy = np.maximum(low[1] + radius - y, y - high[1] + radius)
        outside = np.hypot(np.maximum(dx, 0), np.maximum(dy, 0))
        distance = outside + np.minimum(np.maximum(dx, dy), 0) - radius
        self._paint(rows, columns, 0.5 - distance, colour, alpha)

    def stripes(self, low: Point, high: Point, colour: Colour, alpha: float = 1.0, pitch: float = 8.0) -> None:
        """Hatch a rectangle with slanted stripes."""
        rows, columns, x, y = self._patch(low, high)
        inside = (x >= low[0]) & (x < high[0]) & (y >= low[1]) & (y < high[1])
        wave = np.abs(((x + y) / pitch) % 1 - 0.5) * 2 * pitch / 2
        self._paint(rows, columns, np.where(inside, wave - pitch / 4 + 0.5, 0), colour, alpha)

    def line(self, a: Point, b: Point, width: float, colour: Colour, alpha: float = 1.0) -> None:
        """Stroke a segment with round ends."""
        half = width / 2
        low = (min(a[0], b[0]) - half, min(a[1], b[1]) - half)
        high = (max(a[0], b[0]) + half, max(a[1], b[1]) + half)
        rows, columns, x, y = self._patch(low, high)
        dx, dy = b[0] - a[0], b[1] - a[1]
        along = np.clip(((x - a[0]) * dx + (y - a[1]) * dy) / max(dx * dx + dy * dy, 1e-12), 0, 1)
        distance = np.hypot(x - a[0] - along * dx, y - a[1] - along * dy)
        self._paint(rows, columns, half + 0.5 - distance, colour, alpha)

    def path(
        self, points: Sequence[Point], width: float, colour: Colour, alpha: float = 1.0, dash: float = 0.0
    ) -> None:
        """Stroke a polyline, solid or in dashes of the given length."""
        travelled = 0.0
        for a, b in pairwise(points):
            length = float(np.hypot(b[0] - a[0], b[1] - a[1]))
            pieces = max(int(np.ceil(length / (dash / 4))), 1) if dash else 1
            for k in range(pieces):
                p, q = k / pieces, (k + 1) / pieces
                if not dash or (travelled + p * length) % (2 * dash) < dash:
                    start = (a[0] + p * (b[0] - a[0]), a[1] + p * (b[1] - a[1]))
                    end = (a[0] + q * (b[0] - a[0]), a[1] + q * (b[1] - a[1]))
                    self.line(start, end, width, colour, alpha)
            travelled += length

    def paste(self, image: np.ndarray, at: tuple[int, int]) -> None:
        """Put a uint8 picture at a pixel position; it must fit."""
        x, y = at
        self.pixels[y : y + image.shape[0], x : x + image.shape[1]] = image.astype(np.float32) / 255

    def text(self, at: Point, words: str, size: float, colour: Colour, anchor: str = "la") -> None:
        """Write one line; `anchor` is Pillow's (l/m/r for x, a/m/s for top, middle, baseline)."""
        from PIL import Image, ImageDraw

        font = _font(size)
        box = font.getbbox(words, anchor=anchor)
        pad = int(size) + 2  # the box is a little off where sizes or positions are not whole
        x, y = int(at[0] + box[0]) - pad, int(at[1] + box[1]) - pad
        mask = Image.new("L", (int(box[2] - box[0]) + 2 * pad, int(box[3] - box[1]) + 2 * pad), 0)
        ImageDraw.Draw(mask).text((at[0] - x, at[1] - y), words, fill=255, font=font, anchor=anchor)
        coverage = np.asarray(mask, np.float32) / 255
        rows, columns = slice(max(y, 0), y + mask.height), slice(max(x, 0), x + mask.width)
        shape = self.pixels[rows, columns].shape
        coverage = coverage[max(-y, 0) :, max(-x, 0) :][: shape[0], : shape[1]]
        self._paint(rows, columns, coverage, colour, 1.0)


def text_width(words: str, size: float) -> float:
    """Return the width of a line in pixels."""
    return float(_font(size).getlength(words))


@cache
def _font(size: float) -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(size)
