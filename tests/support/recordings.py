"""Recordings made up for tests of pictures."""

import numpy as np

from blindsave.arena import constants as c
from blindsave.draw.recording import Recording


def made_up(steps: int = 31, hidden: tuple[int, int] = (5, 15), slope: float = 0.1, **changes) -> Recording:
    """A puck sliding to the goal past an arm that stands still; no simulator involved."""
    qpos = np.zeros((steps, 12))
    qpos[:, :7], qpos[:, 7] = c.HOME_ARM_RAD, 0.523598779927196
    qpos[:, 9] = np.linspace(0.5, -1.0, steps)
    qpos[:, 10] = slope * (qpos[hidden[0], 9] - qpos[:, 9])
    visible = np.ones(steps, bool)
    visible[slice(*hidden)] = False
    seen = np.where(visible[:, None], qpos[:, 9:11], np.nan)
    fields = {"outcome": "goal_conceded", "saved": False, "title": "made up", **changes}
    return Recording(qpos, visible, seen, np.zeros((steps, 2)), **fields)


def yellow(image: np.ndarray) -> np.ndarray:
    """Pixels (row, column) of the puck's colour."""
    r, g, b = (image[..., k].astype(int) for k in range(3))
    return np.argwhere((r > 180) & (g > 145) & (b < 110) & (r - b > 110))
