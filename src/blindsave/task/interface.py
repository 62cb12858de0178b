"""What a policy sees and asks for, number by number: the 19 observations, the 2 actions, their frames and units.

    0-6    joint positions, in units of the joint ranges
    7-13   joint velocities, rad/s, clipped
    14-15  mallet x, y in [-1, 1] of its box
    16-17  puck x, y in [-1, 1] of its box; zero while hidden
    18     whether the puck is visible, 0 or 1

An action is a mallet target x, y in [-1, 1] of the mallet's box. Boxes are given in the robot frame, which is the table
frame shifted to the robot's base.
"""

import numpy as np
from numpy.typing import NDArray

from blindsave.arena.constants import MALLET_BOX_M, PUCK_BOX_M, ROBOT_BASE_M

OBSERVATION_FLOATS = 19
ACTION_FLOATS = 2
TRUTH_FLOATS = 4
"""The puck's true x, y, vx, vy in the robot frame: for the experimenter and for privileged policies only."""

JOINT_POSITIONS, JOINT_VELOCITIES = slice(0, 7), slice(7, 14)
MALLET, PUCK = slice(14, 16), slice(16, 18)
ARM = slice(0, 16)
"""Joints and mallet."""
MEASURED = slice(0, 18)
"""Everything but the visible flag."""
VISIBLE = 18

PUCK_PER_MM: NDArray[np.float64] = 2.0 * 1e-3 / (PUCK_BOX_M[1] - PUCK_BOX_M[0])
"""One millimetre on the table in the units of the normalised puck position, x and y."""

Metres = NDArray[np.float64]


def shown(obs: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Which observations (..., 19) show the puck."""
    return obs[..., VISIBLE] > 0.5


def mallet_m(normalised: NDArray[np.floating]) -> Metres:
    """Mallet positions or targets (..., 2) in metres, robot frame."""
    return _in_box(normalised, MALLET_BOX_M)


def puck_m(normalised: NDArray[np.floating]) -> Metres:
    """Observed puck positions (..., 2) in metres, robot frame."""
    return _in_box(normalised, PUCK_BOX_M)


def normalise_mallet(position_m: Metres) -> NDArray[np.float32]:
    """Robot-frame mallet targets to actions, clipped to what the arm may reach."""
    low, high = MALLET_BOX_M
    return np.clip(2 * (position_m - low) / (high - low) - 1, -1.0, 1.0).astype(np.float32)


def normalise_puck(position_m: Metres) -> NDArray[np.float32]:
    """Robot-frame puck positions as observations show them."""
    low, high = PUCK_BOX_M
    return np.clip(2 * (position_m - low) / (high - low) - 1, -1.0, 1.0).astype(np.float32)


def to_table(position_m: Metres) -> Metres:
    """Robot frame to table frame, x and y."""
    return position_m + np.asarray(ROBOT_BASE_M[:2])


def to_robot(position_m: Metres) -> Metres:
    """Table frame to robot frame, x and y."""
    return position_m - np.asarray(ROBOT_BASE_M[:2])


def _in_box(normalised: NDArray[np.floating], box: Metres) -> Metres:
    low, high = box
    return low + (normalised.astype(np.float64) + 1) / 2 * (high - low)
