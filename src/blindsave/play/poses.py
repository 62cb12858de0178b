"""Where each body sits on its parent: what a tree of scene nodes needs, one turn per joint instead of whole poses."""

import functools
from typing import NamedTuple

import mujoco
import numpy as np

from blindsave.draw import looks

PUCK = "puck"
Quaternion = tuple[float, float, float, float]


class Body(NamedTuple):
    """A body of the scene: its node's path below the table's, its rest pose, and the joints that turn it."""

    name: str
    path: str
    position: tuple[float, float, float]
    rest: Quaternion
    hinges: tuple[tuple[int, int], ...]
    """(place in qpos, axis: 0 x, 1 y, 2 z) in the order in which they apply."""


@functools.cache
def bodies() -> tuple[Body, ...]:
    """Every body that is drawn, parents first."""
    model = looks.visual_model()
    paths, found = {0: ""}, []
    for number in range(1, model.nbody):
        name = model.body(number).name
        paths[number] = f"{paths[int(model.body_parentid[number])]}/{name}"
        hinges = tuple(
            (int(model.jnt_qposadr[joint]), int(np.argmax(model.jnt_axis[joint])))
            for joint in range(model.njnt)
            if model.jnt_bodyid[joint] == number and model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_HINGE
        )
        x, y, z = model.body_pos[number].tolist()
        a, b, c, d = model.body_quat[number].tolist()
        found.append(Body(name, paths[number], (x, y, z), (a, b, c, d), hinges))
    return tuple(found)
