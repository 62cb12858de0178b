"""A visitor's own shot: from where, to which place on the goal line, how fast."""

import math

from blindsave.arena.constants import PUCK_RADIUS_M, TABLE_LENGTH_M, TABLE_WIDTH_M
from blindsave.errors import BadInput
from blindsave.task.shots import GOAL_PLANE_X_M, TARGET_REGIONS, Shot, custom

SLOWEST, FASTEST = 0.8, 3.6  # m/s; the study's shots are between 1.5 and 3.6
SPEED_PER_M = 3.0  # of drag
NEAREST_X_M = -0.2  # closer to the goal there is nothing left to defend
EDGE_M = 0.004
REACH_X_M = TABLE_LENGTH_M / 2 - PUCK_RADIUS_M - EDGE_M
REACH_Y_M = TABLE_WIDTH_M / 2 - PUCK_RADIUS_M - EDGE_M
"""Where a puck can be put, and how far aside a shot can be aimed: only straight ones, no rail in between."""
MOUTH_Y_M = max(max(map(abs, region)) for region in TARGET_REGIONS.values())
"""Farthest from the middle of the goal that a shot is aimed at it: the study's own shots to the posts."""


def own_shot(x: float, y: float, target_y: float, speed: float) -> Shot:
    """A shot from the nearest place at which a puck can be put to a place on the goal line."""
    if not all(map(math.isfinite, (x, y, target_y, speed))):
        raise BadInput("an aim needs finite numbers")
    x, y = _within(x, NEAREST_X_M, REACH_X_M), _within(y, -REACH_Y_M, REACH_Y_M)
    dx, dy = GOAL_PLANE_X_M - x, _within(target_y, -REACH_Y_M, REACH_Y_M) - y
    pace = _within(speed, SLOWEST, FASTEST) / math.hypot(dx, dy)
    return custom([round(value, 4) for value in (x, y, pace * dx, pace * dy)])


def at_the_goal(shot: Shot) -> bool:
    """Whether a shot goes in if nobody is in its way; others are wide, whatever happens to them."""
    return abs(shot.target_y) <= MOUTH_Y_M


def _within(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)
