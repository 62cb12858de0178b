"""Aiming: from a drag on the table, or from three sliders, to a shot."""

import math
from collections.abc import Sequence

import numpy as np

from blindsave.arena.constants import PUCK_RADIUS_M, TABLE_LENGTH_M, TABLE_WIDTH_M
from blindsave.errors import BadInput
from blindsave.task.shots import GOAL_PLANE_X_M, Shot, custom

SLOWEST, FASTEST = 0.8, 3.6  # m/s; the study's shots are between 1.5 and 3.6
SPEED_PER_M = 3.0  # of drag
SHORTEST_DRAG_M = 0.05
LAUNCH_X_M = 0.55
NEAREST_X_M = -0.2  # closer to the goal there is nothing left to defend
EDGE_M = 0.004


def on_table_plane(camera: Sequence[float], pointer: Sequence[float]) -> tuple[float, float]:
    """Where the line of sight from the camera through the pointer meets the table."""
    origin, point = np.asarray(camera, np.float64), np.asarray(pointer, np.float64)
    if origin.shape != (3,) or point.shape != (3,) or not (np.isfinite(origin).all() and np.isfinite(point).all()):
        raise BadInput("a pointer needs two finite points")
    along = point - origin
    if along[2] >= -1e-6:
        raise BadInput("the pointer is above the horizon")
    x, y, _ = origin - along * (origin[2] / along[2])
    return float(x), float(y)


def from_drag(start: Sequence[float], end: Sequence[float]) -> Shot:
    """A shot from where the drag began towards where it ended; the longer the drag, the faster."""
    x, y = _on_launch_side(start)
    dx, dy = end[0] - x, end[1] - y
    length = math.hypot(dx, dy)
    if not math.isfinite(length) or length < SHORTEST_DRAG_M:
        raise BadInput("drag a little further to shoot")
    if dx >= -0.2 * length:
        raise BadInput("shoot towards the robot")
    speed = min(max(SPEED_PER_M * length, SLOWEST), FASTEST)
    return custom([round(v, 4) for v in (x, y, speed * dx / length, speed * dy / length)])


def from_sliders(launch_y_m: float, target_y_m: float, speed: float) -> Shot:
    """A shot from the far end to a place on the goal line."""
    x, y = _on_launch_side((LAUNCH_X_M, launch_y_m))
    if not (math.isfinite(target_y_m) and math.isfinite(speed)):
        raise BadInput("an aim needs finite numbers")
    dx, dy = GOAL_PLANE_X_M - x, min(max(target_y_m, -0.5), 0.5) - y
    speed = min(max(speed, SLOWEST), FASTEST) / math.hypot(dx, dy)
    return custom([round(v, 4) for v in (x, y, speed * dx, speed * dy)])


def _on_launch_side(point: Sequence[float]) -> tuple[float, float]:
    """The nearest place at which a puck can be put."""
    if not all(math.isfinite(value) for value in point):
        raise BadInput("an aim needs finite numbers")
    reach_x = TABLE_LENGTH_M / 2 - PUCK_RADIUS_M - EDGE_M
    reach_y = TABLE_WIDTH_M / 2 - PUCK_RADIUS_M - EDGE_M
    return min(max(point[0], NEAREST_X_M), reach_x), min(max(point[1], -reach_y), reach_y)
