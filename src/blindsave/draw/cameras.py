"""Where cameras stand: the whole table, both goals and the arm in view, whatever the shape of the picture."""

import math

import mujoco
import numpy as np
from numpy.typing import NDArray

from blindsave.arena.constants import ROBOT_BASE_M
from blindsave.draw.looks import HALF_X_M, HALF_Y_M, RIM_M

VIEWS = {"shot": (0.30, -0.86, 0.62), "striker": (1.0, -0.62, 0.86)}
"""Towards the camera, from the middle of the table. `shot` fills a wide picture, `striker` a square one."""
FOV_DEG = 26.0
FILLED = 0.96
"""Share of the picture that is used."""


def _in_view() -> NDArray[np.float64]:
    """Points that must be seen: the table's outer corners above and below, foot and top of the arm."""
    x, y = HALF_X_M + RIM_M, HALF_Y_M + RIM_M
    table = [(sx * x, sy * y, z) for sx in (-1, 1) for sy in (-1, 1) for z in (0.03, -0.12)]
    base, top = ROBOT_BASE_M[0], 0.98
    return np.array([*table, (base - 0.17, 0, -0.12), (base, 0.1, top), (base, -0.1, top), (base + 0.35, 0, top)])


def place(model: mujoco.MjModel, width: int, height: int) -> None:
    """Put the cameras of VIEWS where a picture of this size shows all of it, as large as possible."""
    points, aspect, half = _in_view(), width / height, math.tan(math.radians(FOV_DEG / 2))
    for name, direction in VIEWS.items():
        back = np.array(direction) / np.linalg.norm(direction)
        right = np.cross((0.0, 0.0, 1.0), back)
        right /= np.linalg.norm(right)
        up = np.cross(back, right)
        centre, far = points.mean(0), 0.0
        for _ in range(8):  # the middle and the distance depend on each other
            across, above, depth = (points - centre) @ right, (points - centre) @ up, (points - centre) @ back
            far = float(np.max(np.maximum(np.abs(across) / aspect, np.abs(above)) / (half * FILLED) + depth))
            seen = np.stack([across, above]) / (far - depth)
            centre = centre + far * (seen.max(1) + seen.min(1)) @ np.stack([right, up]) / 2
        camera = model.camera(name).id
        model.cam_pos[camera] = centre + far * back
        model.cam_fovy[camera] = FOV_DEG
        mujoco.mju_mat2Quat(model.cam_quat[camera], np.stack([right, up, back], 1).ravel())
