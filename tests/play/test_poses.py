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


def test_a_product_turns_first_by_its_right_factor():
    half = np.sqrt(0.5)
    about_z, about_x = (half, 0.0, 0.0, half), (half, half, 0.0, 0.0)
    found = np.empty(3)
    mujoco.mju_rotVecQuat(found, np.array([0.0, 1.0, 0.0]), np.array(poses.times(about_z, about_x)))
    np.testing.assert_allclose(found, [0, 0, 1], atol=1e-12)  # y to z about x; z stays z about z
    assert poses.times((1.0, 0.0, 0.0, 0.0), about_x) == about_x


def test_parents_come_before_their_children_and_the_arm_has_seven_turns():
    known = {""}
    for body in poses.bodies():
        assert body.path.rpartition("/")[0] in known
        known.add(body.path)
    turns = [place for body in poses.bodies() for place, _ in body.hinges if place < 7]
    assert sorted(turns) == list(range(7))


def test_a_body_without_joints_keeps_its_rest():
    still = next(body for body in poses.bodies() if not body.hinges)
    assert poses.turned(still, np.ones(12)) == still.rest
