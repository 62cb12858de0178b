"""How long can it remember? The defence task with a dial: the arm is held after the puck was seen last.

An arm that may move carries the answer: it is on its way to the right post, and looking at it is remembering. So it is
held, for `hold` control steps more than the usual five, and shots are slow enough that whoever then knows the side can
still get there. The puck stays hidden until it would be in the goal.

    condition("remember_20")    the arm is released 400 ms after the puck disappeared
"""

import math

import numpy as np
from numpy.typing import NDArray

from blindsave.arena.constants import CONTROL_DT_S
from blindsave.arena.simulator import Backend
from blindsave.errors import BadInput
from blindsave.task.audit import families
from blindsave.task.conditions import Condition, condition, fault
from blindsave.task.defend import DefendBatch
from blindsave.task.draft import Draft
from blindsave.task.episode import LOCKED_STEPS
from blindsave.task.faults import hold as hold_arm
from blindsave.task.faults import shot_speed
from blindsave.task.outcomes import GOAL_LINE_X_M
from blindsave.task.shots import Shot
from blindsave.task.tracking import BLACKOUT_START, OBSERVATIONS

SHOT_SPEED, FASTEST = 0.7, 1.8
"""Shots come at seven tenths of their speed, and at most at so many metres per second."""
PUCK_DRAG_PER_S = 0.5
"""The puck's damping over its mass."""
HOLDS = (0, 5, 10, 15, 20)
"""The stops of the dial in control steps: 0 to 400 ms."""
KIND = "remember"


@fault
def remember(draft: Draft, hold: int) -> None:
    """The memory task: slow shots, hidden until they would be in the goal, an arm held so many steps longer."""
    if hold < 0:
        raise BadInput(
            f"the arm is held for so many control steps after the puck disappeared, zero or more, not {hold}"
        )
    shot_speed(draft, min(SHOT_SPEED, FASTEST / draft.shot.speed))
    draft.hide(slice(BLACKOUT_START, min(arrival(draft.shot), OBSERVATIONS)))
    hold_arm(draft, hold)


def arrival(shot: Shot) -> int:
    """The first observation at which nobody could save this shot any more: it would be behind the goal line."""
    way, reach = shot.x - GOAL_LINE_X_M, -shot.vx / PUCK_DRAG_PER_S
    if way >= reach:  # it will never get there
        return OBSERVATIONS
    return math.ceil(-math.log1p(-way / reach) / PUCK_DRAG_PER_S / CONTROL_DT_S)


def remembering(hold: int) -> Condition:
    """The task with the arm held for so many control steps after the puck disappeared."""
    return condition(f"{KIND}_{hold}")


def milliseconds(hold: int) -> int:
    """How long the puck has been gone when the arm is released."""
    return round(1000 * hold * CONTROL_DT_S)


def audit(split: str = "calibration", hold: int = HOLDS[-1], *, backend: Backend = "auto") -> dict[str, object]:
    """Do twins look the same from the moment the puck disappears until the arm is released, whatever is requested?

    Both members of every pair are played under opposite requests; `max_difference` is the largest difference of any of
    the 19 numbers seen at any of these observations.
    """
    pairs = families(split)
    under = remembering(hold)
    episodes = [under.episode(shot) for pair in pairs for shot in pair]
    batch = DefendBatch(len(episodes), backend=backend)
    batch.reset(episodes)
    requests = np.tile(np.array([[1.0, -1.0], [1.0, 1.0]], np.float32), (len(pairs), 1))
    largest, seen = 0.0, 0
    for step in range(LOCKED_STEPS + hold + 1):
        if step >= BLACKOUT_START:
            largest, seen = max(largest, _apart(batch.obs)), seen + int(batch.visible.sum())
        if step < LOCKED_STEPS + hold:
            batch.step(requests)
    hidden_ms = [milliseconds(arrival(episode.shot) - BLACKOUT_START) for episode in episodes]
    return {
        "split": split,
        "hold": hold,
        "hold_ms": milliseconds(hold),
        "families": len(pairs),
        "max_difference": largest,
        "readings_while_held": seen,
        "hidden_ms": [min(hidden_ms), max(hidden_ms)],
        "passed": bool(pairs) and largest == 0.0 and seen == 0,
    }


def _apart(obs: NDArray[np.float32]) -> float:
    pairs = obs.reshape(-1, 2, obs.shape[1])
    return float(np.abs(pairs[:, 0] - pairs[:, 1]).max())
