"""Two shots of an alias pair in one picture: they meet where tracking stops, then part for opposite posts."""

import numpy as np

from blindsave.arena.constants import GOAL_WIDTH_M, MALLET_RADIUS_M, TABLE_LENGTH_M
from blindsave.draw import topdown
from blindsave.draw.canvas import MIST, NIGHT, PAPER, Canvas, Colour, Point
from blindsave.draw.captions import pill
from blindsave.draw.pictures import Image
from blindsave.draw.recording import Recording
from blindsave.errors import BadInput

FIRST, SECOND = (0.36, 0.74, 0.96), (1.0, 0.62, 0.20)
AREA = (-1.09, 0.74, -0.40, 0.40)
CHART_MM = 130.0
GROUND = (0.125, 0.145, 0.18)
GOAL_X = -TABLE_LENGTH_M / 2


def pair_image(first: Recording, second: Recording, title: str, width: int = 1400) -> Image:
    """Draw both paths from above, and below them with the width of the table stretched so that the parting shows."""
    stop = _first_hidden(first)
    if stop != _first_hidden(second):
        raise BadInput("the two recordings of a pair must lose tracking at the same observation")
    size, margin = width / 58, width // 40
    plan_height = round((width - 2 * margin) * (AREA[3] - AREA[2]) / (AREA[1] - AREA[0]))
    chart_height, head = round(0.24 * width), round(3.2 * size)
    canvas = Canvas(width, head + plan_height + chart_height + round(4.2 * size), NIGHT)
    canvas.text((margin, head / 2), title, 1.15 * size, PAPER, "lm")
    _key(canvas, (width - margin, head / 2), size)
    canvas.paste(_plan((first, second), stop, width - 2 * margin, plan_height), (margin, head))
    low = (float(margin), head + plan_height + 0.6 * size)
    _chart(canvas, (first, second), stop, low, (width - margin, low[1] + chart_height), size)
    return canvas.image()


def _first_hidden(recording: Recording) -> int:
    spans = recording.hidden_spans
    if not spans:
        raise BadInput("a picture of a pair needs a blackout of at least one step")
    return spans[0][0]


def _key(canvas: Canvas, at: Point, size: float) -> None:
    x, y = at
    canvas.text((x, y), "hidden", size, MIST, "rm")
    canvas.ring((x - 4.3 * size, y), 0.38 * size, 0.17 * size, PAPER)
    canvas.text((x - 5.6 * size, y), "seen", size, MIST, "rm")
    canvas.disc((x - 8.7 * size, y), 0.42 * size, PAPER)


def _until_goal(recording: Recording) -> np.ndarray:
    """The path up to the goal line, its last point on the line."""
    path = recording.puck
    beyond = np.flatnonzero(path[:, 0] < GOAL_X)
    if not len(beyond):
        return path
    k = int(beyond[0])
    share = (GOAL_X - path[k - 1, 0]) / (path[k, 0] - path[k - 1, 0])
    return np.vstack([path[:k], path[k - 1] + share * (path[k] - path[k - 1])])


def _dots(
    canvas: Canvas, points: list[Point], visible: list[bool], radius: float, colours: tuple[Colour, Colour]
) -> None:
    """Draw full dots where the puck was seen, hollow ones with the ground showing through where it was not."""
    colour, ground = colours
    canvas.path(points, 0.3 * radius, colour)
    for point, seen in zip(points, visible, strict=True):
        canvas.disc(point, radius, colour)
        if not seen:
            canvas.disc(point, 0.6 * radius, ground)


def _plan(pair: tuple[Recording, Recording], stop: int, width: int, height: int) -> Image:
    canvas = Canvas(width, height, NIGHT)
    plan = topdown.Plan.fit(canvas, AREA)
    topdown.draw_table(plan)
    topdown.draw_mallet(plan, pair[0].mallet[0])
    meeting = plan.px(np.mean([r.puck[stop] for r in pair], axis=0))
    size = width / 62
    canvas.ring(meeting, 0.045 * plan.scale, 0.2 * size, PAPER, 0.9)
    for recording, colour in zip(pair, (FIRST, SECOND), strict=True):
        path = _until_goal(recording)
        points, visible = [plan.px(p) for p in path], recording.visible[: len(path)].tolist()
        _dots(canvas, points, visible, 0.0085 * plan.scale, (colour, topdown.SURFACE))
        canvas.ring(points[-1], 0.0317 * plan.scale, 0.22 * size, colour)
    apart_mm = 1000 * np.hypot(*(pair[0].puck[stop] - pair[1].puck[stop]))
    words = f"tracking stops at {1000 * pair[0].time_s(stop):.0f} ms: pucks {apart_mm:.1f} mm apart"
    pill(canvas, (meeting[0], meeting[1] - 0.11 * plan.scale), words, size, PAPER, NIGHT, "m")
    canvas.line((meeting[0], meeting[1] - 0.09 * plan.scale), (meeting[0], meeting[1] - 0.045 * plan.scale), 2, PAPER)
    return canvas.image()


def _chart(canvas: Canvas, pair: tuple[Recording, Recording], stop: int, low: Point, high: Point, size: float) -> None:
    """Draw lateral position over position along the table; the axis across is stretched."""

    def px(x: float, y_mm: float) -> Point:
        share = (x - AREA[0]) / (AREA[1] - AREA[0])
        return low[0] + share * (high[0] - low[0]), (low[1] + high[1]) / 2 - y_mm / CHART_MM * (high[1] - low[1]) / 2

    canvas.box(low, high, GROUND)
    for y_mm in (-100, -50, 0, 50, 100):
        canvas.line(px(GOAL_X, y_mm), px(AREA[1], y_mm), 1.0, MIST, 0.25)
        canvas.text((low[0] + 2.9 * size, px(0, y_mm)[1]), f"{y_mm:+d}" if y_mm else "0 mm", 0.85 * size, MIST, "rm")
    for x in (-0.8, -0.6, -0.4, -0.2, 0.0, 0.2, 0.4, 0.6):
        canvas.text((px(x, 0)[0], high[1] + 0.4 * size), f"{x:g}", 0.85 * size, MIST, "ma")
    canvas.text((px(AREA[1], 0)[0], high[1] + 1.6 * size), "metres along the table", 0.85 * size, MIST, "ra")
    _goal(canvas, px, size)
    meeting_x = float(np.mean([r.puck[stop, 0] for r in pair]))
    canvas.path([px(meeting_x, -CHART_MM), px(meeting_x, CHART_MM)], 1.5, PAPER, 0.7, dash=0.4 * size)
    for recording, colour in zip(pair, (FIRST, SECOND), strict=True):
        points = [px(float(x), 1000 * float(y)) for x, y in _until_goal(recording)]
        _dots(canvas, points, recording.visible[: len(points)].tolist(), 0.32 * size, (colour, GROUND))


def _goal(canvas: Canvas, px, size: float) -> None:
    """Draw the mouth of the goal and the stretch of it that a waiting mallet covers."""
    half_mm = 500 * GOAL_WIDTH_M
    canvas.line(px(GOAL_X, -half_mm), px(GOAL_X, half_mm), 0.35 * size, topdown.RED)
    canvas.text((px(GOAL_X, 0)[0], px(0, -CHART_MM)[1] + 0.4 * size), "goal line", 0.85 * size, MIST, "ma")
    waiting = -0.86
    canvas.line(px(waiting, -1000 * MALLET_RADIUS_M), px(waiting, 1000 * MALLET_RADIUS_M), 0.3 * size, PAPER, 0.5)
    canvas.text((px(waiting, 0)[0] + 0.5 * size, px(0, 14)[1]), "mallet", 0.85 * size, MIST, "lm")
