import mujoco
import numpy as np
import pytest

from blindsave.arena import constants as c
from blindsave.arena import scene
from blindsave.draw import looks


def looks_only() -> list[int]:
    model = looks.visual_model()
    return [i for i in range(model.ngeom) if model.geom(i).name.startswith("look_")]


def test_everything_in_the_visual_model_has_a_name():
    model = looks.visual_model()
    for kind in ("body", "geom", "joint", "camera", "light", "mat", "mesh", "tex"):
        count = getattr(model, {"body": "nbody", "joint": "njnt", "camera": "ncam"}.get(kind, f"n{kind}"))
        assert count > 0
        assert all(getattr(model, kind)(i).name for i in range(count)), kind


def test_visual_geoms_never_touch_and_lie_in_their_own_group():
    model = looks.visual_model()
    geoms = looks_only()
    assert len(geoms) > 100
    assert not model.geom_contype[geoms].any() and not model.geom_conaffinity[geoms].any()
    assert (model.geom_group[geoms] == 1).all()
    assert scene.physics_model().ngeom == model.ngeom - len(geoms)


def test_visual_geoms_weigh_nothing():
    physics, visual = scene.physics_model(), looks.visual_model()
    np.testing.assert_array_equal(visual.body_mass, physics.body_mass)
    np.testing.assert_array_equal(visual.body_inertia, physics.body_inertia)
    np.testing.assert_array_equal(visual.body_ipos, physics.body_ipos)


@pytest.mark.parametrize("launch", [(-0.3, 0.02, -2.0, 0.0), (0.0, 0.3, -1.0, 1.5), (-0.6, -0.11, -2.4, 0.0)])
def test_looks_do_not_change_the_physics(launch):
    rng = np.random.default_rng(7)
    states, contacts = [], 0
    torques = rng.uniform(-1, 1, (600, 9)) * [20, 40, 20, 20, 8, 4, 2, 0.3, 0.3]
    for model in (scene.physics_model(), looks.visual_model()):
        data = mujoco.MjData(model)
        data.qpos[:7], data.qpos[7] = c.HOME_ARM_RAD, 0.5236
        data.qpos[9:11], data.qvel[9:11] = launch[:2], launch[2:]
        path = []
        for torque in torques:
            mujoco.mj_forward(model, data)
            data.ctrl[:] = torque
            data.ctrl[:7] += data.qfrc_bias[:7]
            mujoco.mj_step(model, data)
            contacts += data.ncon
            path.append(np.concatenate([data.qpos, data.qvel]))
        states.append(np.array(path))
    assert contacts > 0
    assert np.abs(states[0] - states[1]).max() < 1e-10


def test_every_moving_body_is_drawn():
    model = looks.visual_model()
    drawn = {model.body(int(model.geom_bodyid[i])).name for i in looks_only()}
    assert drawn >= {"base", "mallet", "puck", "rod_end", *(f"link_{i}" for i in range(1, 8))}
    assert looks.decorate("rim") == ""


def test_the_drawn_mallet_stands_on_the_table_at_rest():
    model = looks.visual_model()
    data = mujoco.MjData(model)
    data.qpos[:7], data.qpos[7] = c.HOME_ARM_RAD, 0.523598779927196
    mujoco.mj_kinematics(model, data)
    foam = model.geom("look_mallet_foam")
    bottom = data.geom("look_mallet_foam").xpos[2] - foam.size[1]
    assert 0 < bottom < 0.003
    assert foam.size[0] == pytest.approx(c.MALLET_RADIUS_M)
