import copy

import mujoco
import numpy as np
import pytest

from blindsave.draw import cameras, looks


def seen(model: mujoco.MjModel, name: str, aspect: float, points: np.ndarray) -> np.ndarray:
    """Where points are in the picture: from -1 to 1 across and up."""
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_camlight(model, data)
    camera = model.camera(name).id
    axes = data.cam_xmat[camera].reshape(3, 3)
    local = (points - data.cam_xpos[camera]) @ axes
    half = np.tan(np.deg2rad(model.cam_fovy[camera]) / 2)
    assert (local[:, 2] < 0).all(), "in front of the camera"
    return local[:, :2] / -local[:, 2:] / half / [aspect, 1.0]


@pytest.mark.parametrize("name", cameras.VIEWS)
@pytest.mark.parametrize("size", [(960, 500), (478, 440), (598, 374), (320, 240), (300, 600)])
def test_table_goals_and_arm_are_in_view_and_fill_the_picture(name, size):
    model = copy.copy(looks.visual_model())
    cameras.place(model, *size)
    goals = [(side * 0.974, y, 0.0) for side in (-1, 1) for y in (-0.125, 0.125)]
    corners = [(x, y, 0.0) for x in (-1.064, 1.064) for y in (-0.609, 0.609)]
    places = seen(model, name, size[0] / size[1], np.array([*goals, *corners, (-1.51, 0.0, 0.95)]))
    assert np.abs(places).max() <= 1.0
    everything = seen(model, name, size[0] / size[1], cameras._in_view())
    assert np.abs(everything).max() == pytest.approx(cameras.FILLED, abs=0.02)
