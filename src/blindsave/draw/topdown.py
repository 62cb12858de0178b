"""The arena from above, drawn in NumPy alone: for machines without OpenGL, and where a plan says more."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from blindsave.arena import constants as c
from blindsave.draw.canvas import ACCENT, BELIEVED, HIDDEN, INK, NIGHT, PAPER, SEEN, WANTED, Canvas, Colour, Point
from blindsave.draw.recording import skeleton

HALF_X, HALF_Y, GOAL, RIM = c.TABLE_LENGTH_M / 2, c.TABLE_WIDTH_M / 2, c.GOAL_WIDTH_M / 2, 0.09
SURFACE, RAIL, LINE, RED = (0.115, 0.225, 0.36), (0.80, 0.82, 0.86), (0.66, 0.74, 0.83), (0.87, 0.28, 0.25)
# Parts of the table plane to show: x from, x to, y from, y to; the second leaves room for words above the table.
WHOLE, WITH_WORDS = (-1.72, 1.12, -0.66, 0.66), (-1.72, 1.12, -0.66, 0.84)


class Plan(NamedTuple):
    """A map of the table plane on a canvas: +x right, +y up."""

    canvas: Canvas
    scale: float
    zero: Point

    @classmethod
    def fit(cls, canvas: Canvas, area: tuple[float, float, float, float] = WHOLE) -> "Plan":
        """Show an area as large as it fits, in the middle."""
        x0, x1, y0, y1 = area
        scale = min(canvas.width / (x1 - x0), canvas.height / (y1 - y0))
        zero = (canvas.width / 2 - scale * (x0 + x1) / 2, canvas.height / 2 + scale * (y0 + y1) / 2)
        return cls(canvas, scale, zero)

    def px(self, point: ArrayLike) -> Point:
        """Pixel position of a table point."""
        x, y = np.asarray(point, np.float64)[:2].tolist()
        return self.zero[0] + self.scale * x, self.zero[1] - self.scale * y

    def box(self, x0: float, x1: float, y0: float, y1: float, colour: Colour, radius: float = 0.0) -> None:
        """Fill a rectangle given in metres."""
        low, high = self.px((x0, y1)), self.px((x1, y0))
        self.canvas.box(low, high, colour, radius=radius * self.scale)


def draw_table(plan: Plan) -> None:
    """Draw rails, surface, markings and goals."""
    s, canvas = plan.scale, plan.canvas
    plan.box(-HALF_X - RIM, HALF_X + RIM, -HALF_Y - RIM, HALF_Y + RIM, RAIL, 0.02)
    plan.box(-HALF_X, HALF_X, -HALF_Y, HALF_Y, SURFACE)
    for sign in (-1, 1):
        _crease(plan, sign)
        canvas.line(plan.px((sign * 0.487, -HALF_Y)), plan.px((sign * 0.487, HALF_Y)), 0.004 * s, LINE)
    canvas.line(plan.px((0, -HALF_Y)), plan.px((0, HALF_Y)), 0.008 * s, RED)
    canvas.ring(plan.px((0, 0)), 0.15 * s, 0.006 * s, RED)
    canvas.disc(plan.px((0, 0)), 0.014 * s, RED)
    for sign in (-1, 1):
        inner, outer = sorted((sign * HALF_X, sign * (HALF_X + RIM)))
        plan.box(inner, outer, -GOAL, GOAL, INK)
        canvas.line(plan.px((sign * HALF_X, -GOAL)), plan.px((sign * HALF_X, GOAL)), 0.008 * s, RED)


def _crease(plan: Plan, sign: int) -> None:
    turn = np.linspace(-np.pi / 2, np.pi / 2, 40)
    arc = [plan.px((sign * (HALF_X - 0.26 * np.cos(t)), 0.26 * np.sin(t))) for t in turn]
    plan.canvas.path(arc, 0.006 * plan.scale, LINE)


def draw_arm(plan: Plan, qpos: np.ndarray) -> None:
    """Draw the arm's shadow from above: base, links getting thinner, rod, mallet."""
    s, canvas, joints = plan.scale, plan.canvas, skeleton(qpos)
    at = [plan.px(p) for p in joints]
    canvas.disc(at[0], 0.165 * s, (0.30, 0.33, 0.38))
    canvas.disc(at[0], 0.106 * s, (0.84, 0.86, 0.89))
    for i in np.argsort(joints[1:7, 2]):  # what is higher hides what is lower
        width = 2 * (0.080 - 0.004 * i) * s
        canvas.line(at[i + 1], at[i + 2], width + 0.008 * s, (0.55, 0.58, 0.63))
        canvas.line(at[i + 1], at[i + 2], width, (0.88, 0.90, 0.93))
    for i in (3, 5):
        canvas.ring(at[i], 0.052 * s, 0.009 * s, ACCENT)
    draw_mallet(plan, joints[-1])
    canvas.line(at[7], at[8], 0.026 * s, (0.60, 0.63, 0.68))
    canvas.disc(at[7], 0.046 * s, (0.33, 0.35, 0.40))


def draw_mallet(plan: Plan, at: ArrayLike) -> None:
    """Draw the mallet."""
    place, s = plan.px(at), plan.scale
    plan.canvas.disc(place, c.MALLET_RADIUS_M * s, (0.80, 0.13, 0.16))
    plan.canvas.disc(place, 0.038 * s, PAPER)
    plan.canvas.disc(place, 0.016 * s, (0.25, 0.27, 0.31))


def draw_puck(plan: Plan, at: ArrayLike, hidden: bool) -> None:
    """Draw the puck; a ghost where the policy cannot see it."""
    place, radius = plan.px(at), c.PUCK_RADIUS_M * plan.scale
    if hidden:
        plan.canvas.disc(place, radius, HIDDEN, 0.22)
        plan.canvas.ring(place, radius, max(0.16 * radius, 1.4), HIDDEN, 0.95, dashes=10)
    else:
        plan.canvas.disc(place, radius, SEEN)
        plan.canvas.disc(place, 0.70 * radius, (0.93, 0.62, 0.06))


def draw_trail(plan: Plan, points: np.ndarray, visible: np.ndarray) -> None:
    """Draw one dot per observation: full where the puck was seen, hollow where it was not."""
    s = plan.scale
    for point, seen in zip(points, visible, strict=True):
        if seen:
            plan.canvas.disc(plan.px(point), 0.009 * s, SEEN, 0.95)
        else:
            plan.canvas.ring(plan.px(point), 0.009 * s, max(0.004 * s, 1.0), HIDDEN, 0.9)


def draw_beliefs(plan: Plan, points: np.ndarray) -> None:
    """Draw one dot where a memory imagines the hidden puck at each step."""
    for point in points:
        plan.canvas.disc(plan.px(point), 0.008 * plan.scale, BELIEVED, 0.9)


def draw_target(plan: Plan, at: ArrayLike) -> None:
    """Mark where the policy wants the mallet."""
    place, arm = plan.px(at), 0.02 * plan.scale
    for dx, dy in ((1, 1), (1, -1)):
        a, b = (place[0] - dx * arm, place[1] - dy * arm), (place[0] + dx * arm, place[1] + dy * arm)
        plan.canvas.line(a, b, max(0.007 * plan.scale, 1.5), WANTED)


def table_image(qpos: np.ndarray, width: int, height: int, hidden: bool = False) -> np.ndarray:
    """Return one configuration from above, without any words."""
    canvas = Canvas(width, height, NIGHT)
    plan = Plan.fit(canvas)
    draw_table(plan)
    draw_puck(plan, qpos[9:11], hidden)
    draw_arm(plan, qpos)
    return canvas.image()
