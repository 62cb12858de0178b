"""Where bodies sit on their parents."""

import mujoco
import numpy as np

from blindsave.draw import looks
from blindsave.play import poses


def test_nested_turns_give_the_poses_of_the_simulator():
    model = looks.visual_model()
    data = mujoco.MjData(model)
    rng = np.random.default_rng(3)
    for _ in range(5):
        data.qpos[:] = rng.uniform(-1, 1, model.nq)
        mujoco.mj_kinematics(model, data)
        position, rotation = {"": np.zeros(3)}, {"": np.eye(3)}
        for body in poses.bodies():
            parent = body.path.rpartition("/")[0]
            turn = np.empty(9)
            mujoco.mju_quat2Mat(turn, np.array(poses.turned(body, data.qpos)))
            local = np.array(body.position)
            if body.name == poses.PUCK:
                local = np.array([data.qpos[9], data.qpos[10], 0.0])
            position[body.path] = position[parent] + rotation[parent] @ local
            rotation[body.path] = rotation[parent] @ turn.reshape(3, 3)
            np.testing.assert_allclose(position[body.path], data.body(body.name).xpos, atol=1e-12)
            np.testing.assert_allclose(rotation[body.path].ravel(), data.body(body.name).xmat, atol=1e-12)
