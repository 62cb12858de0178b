"""Three rules that need no learning: they mark how hard the task is, from below and from above."""

import numpy as np
from numpy.typing import NDArray

from blindsave.task.interface import ACTION_FLOATS, MALLET, normalise_mallet

HOME_M = (0.65, 0.0)  # robot frame: where the mallet starts
INTERCEPT_X_M = 0.75  # robot frame: the line on which the privileged controller waits for the puck


def hold(obs: NDArray[np.float32]) -> NDArray[np.float32]:
    """Command the mallet position that is seen; rows of observations to rows of actions."""
    return obs[:, MALLET].copy()


def stay_central(obs: NDArray[np.float32]) -> NDArray[np.float32]:
    """Command the middle of the goal, whatever happens."""
    return np.broadcast_to(normalise_mallet(np.array([HOME_M])), (len(obs), ACTION_FLOATS)).copy()


def intercept(truth: NDArray[np.float64]) -> NDArray[np.float32]:
    """Command the point where the puck will cross the intercept line, from its true x, y, vx, vy (robot frame).

    A straight line: no drag, no wall. A puck that is past the line or moving away is followed sideways.
    """
    x, y, vx, vy = truth.T
    approaching = vx < -1e-6
    time_s = np.where(approaching, (INTERCEPT_X_M - x) / np.where(approaching, vx, -1.0), -1.0)
    crossing_y = np.where(time_s >= 0, y + time_s * vy, y)
    return normalise_mallet(np.stack([np.full_like(crossing_y, INTERCEPT_X_M), crossing_y], axis=1))
