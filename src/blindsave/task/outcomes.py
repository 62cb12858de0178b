"""How a shot ends: the one rule that turns the puck's true state into an outcome, evaluated every control step."""

import math
from enum import IntEnum

GOAL_LINE_X_M = -0.974
GOAL_HALF_WIDTH_M = 0.125
TABLE_HALF_WIDTH_M = 0.519
RETURN_X_M = -0.55
RETURN_SPEED = 0.15
ARREST_SPEED = 0.1
ARREST_STEPS = 3
TIMEOUT_STEPS = 125


class Outcome(IntEnum):
    """The end of an episode; 0 while it runs. The codes are shared with the compiled core."""

    RUNNING = 0
    GOAL_CONCEDED = 1
    RETURNED = 2
    ARRESTED = 3
    SAFE_DEFLECTION = 4
    MISSED_GOAL_WITHOUT_CONTACT = 5
    UPSTREAM_TERMINAL_AFTER_CONTACT = 6
    UPSTREAM_TERMINAL_WITHOUT_CONTACT = 7
    TIMEOUT_AFTER_CONTACT = 8
    TIMEOUT_WITHOUT_CONTACT = 9
    SIMULATOR_FAULT = 10
    NON_FINITE_STATE = 11

    @property
    def label(self) -> str:
        """Name in tables and files."""
        return self.name.lower()

    @property
    def saved(self) -> bool:
        """Whether the goalkeeper did its job."""
        return self in (Outcome.RETURNED, Outcome.ARRESTED, Outcome.SAFE_DEFLECTION)

    @property
    def timed_out(self) -> bool:
        """Whether the clock, not the puck, ended the episode (a truncation, not a termination)."""
        return self in (Outcome.TIMEOUT_AFTER_CONTACT, Outcome.TIMEOUT_WITHOUT_CONTACT)

    @property
    def faulty(self) -> bool:
        """Whether the simulation broke; counted as a failure to save, and reported."""
        return self in (Outcome.SIMULATOR_FAULT, Outcome.NON_FINITE_STATE)


def judge(
    puck: tuple[float, float, float, float],
    *,
    touched: bool,
    absorbing: bool,
    slow_steps: int,
    steps: int,
) -> tuple[Outcome, int]:
    """Return the outcome after a control step, and the updated count of consecutive slow steps.

    `puck` is x, y, vx, vy in the table frame; `touched` whether the mallet has met the puck at any time in the
    episode; `absorbing` the arena's own flag; `slow_steps` the count before this step; `steps` the control
    steps taken, this one included.
    """
    x, y, vx, vy = puck
    if not all(map(math.isfinite, puck)):
        return Outcome.NON_FINITE_STATE, slow_steps
    behind_goal_line = x < GOAL_LINE_X_M
    if behind_goal_line and abs(y) <= GOAL_HALF_WIDTH_M:
        return Outcome.GOAL_CONCEDED, slow_steps
    if touched and x >= RETURN_X_M and vx >= RETURN_SPEED:
        return Outcome.RETURNED, slow_steps
    slow_steps = slow_steps + 1 if touched and math.sqrt(vx * vx + vy * vy) <= ARREST_SPEED else 0
    if slow_steps >= ARREST_STEPS or (slow_steps > 0 and absorbing):
        return Outcome.ARRESTED, slow_steps
    if behind_goal_line or abs(y) > TABLE_HALF_WIDTH_M:
        return (Outcome.SAFE_DEFLECTION if touched else Outcome.MISSED_GOAL_WITHOUT_CONTACT), slow_steps
    if absorbing:
        after, without = Outcome.UPSTREAM_TERMINAL_AFTER_CONTACT, Outcome.UPSTREAM_TERMINAL_WITHOUT_CONTACT
    elif steps >= TIMEOUT_STEPS:
        after, without = Outcome.TIMEOUT_AFTER_CONTACT, Outcome.TIMEOUT_WITHOUT_CONTACT
    else:
        return Outcome.RUNNING, slow_steps
    return (after if touched else without), slow_steps
