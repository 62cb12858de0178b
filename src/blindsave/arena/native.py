"""The compiled core, wrapped: its constants, its row layout, and whether it is there at all."""

import ctypes
import functools
import os
import sys
from pathlib import Path

import mujoco
import numpy as np
from numpy.typing import NDArray

from blindsave.arena import constants as c
from blindsave.arena import scene
from blindsave.errors import BadInput

# Mirrors bs_row in core/arena.h.
ROW = np.dtype(
    [
        ("policy_obs", "f8", 20),
        ("obs_raw", "f8", 20),
        ("puck_pos", "f8", 3),
        ("puck_vel", "f8", 3),
        ("mallet_pos", "f8", 3),
        ("u_pos", "f8", 2),
        ("cmd_pos", "f8", 7),
        ("cmd_vel", "f8", 7),
        ("qpos", "f8", 12),
        ("qvel", "f8", 12),
        ("contact", "?"),
        ("absorbing", "?"),
        ("fault", "?"),
        ("padding", "V5"),
    ]
)


def law() -> NDArray[np.float64]:
    """Return the control law's numbers in the order of bs_law in core/control.h."""
    share = c.COMMAND_SHARE
    parts = [
        [c.MALLET_HEIGHT_M], c.TASK_STIFFNESS, c.TASK_DAMPING, [c.DAMPED_INVERSE],
        share * c.VELOCITY_LIMIT, share * c.ACCELERATION_LIMIT,
        c.VELOCITY_LIMIT, c.JOINT_RANGE_RAD, c.TORQUE_LIMIT_NM,
        c.STIFFNESS, c.DAMPING,
        [c.ARM_FILTER, c.UNIVERSAL_FILTER, c.UNIVERSAL_STIFFNESS, c.UNIVERSAL_DAMPING, c.UNIVERSAL_CLAMP_RAD],
        [c.LIMITER_GAIN],
        c.BUTTER_B, c.BUTTER_A, c.BUTTER_STEADY,
        c.MALLET_BOX_M[0], c.MALLET_BOX_M[1], c.PUCK_BOX_M[0], c.PUCK_BOX_M[1],
        c.HOME_ARM_RAD, c.ROBOT_BASE_M,
        [c.CONTROL_DT_S, c.PHYSICS_DT_S, c.TABLE_LENGTH_M / 2, c.TABLE_WIDTH_M / 2],
    ]  # fmt: skip
    return np.concatenate([np.asarray(part, np.float64) for part in parts])


@functools.cache
def load():
    """Import the compiled core. Its MuJoCo symbols come from the library that the mujoco package has loaded."""
    for library in sorted(Path(mujoco.__file__).parent.glob("libmujoco.*")):
        ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
    from blindsave.arena import _core  # pyright: ignore[reportAttributeAccessIssue]

    return _core


@functools.cache
def available() -> bool:
    """Whether the compiled core can be used here; says once why not."""
    try:
        _core = load()
    except ImportError:
        print("blindsave: the compiled core is missing, using the slow reference simulation", file=sys.stderr)
        return False
    if mujoco.mj_version() != _core.MUJOCO_VERSION:
        print("blindsave: the core was compiled for another MuJoCo, using the slow reference", file=sys.stderr)
        return False
    return True


def threads_or_default(threads: int | None) -> int:
    """Check a thread count; None is one per core this process may use."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if threads < 1:
        raise BadInput(f"threads must be at least 1, got {threads}")
    return threads


def make_core(n: int, threads: int, rows: NDArray, defend_rows: NDArray | None = None):
    """Make a compiled batch of n environments that writes into the given rows."""
    model, robot = scene.physics_model(), scene.robot_model()
    geoms = (model.geom("puck").id, model.geom("mallet").id)
    return load().Core(model._address, robot._address, law(), n, threads, *geoms, rows, defend_rows)


def as_ids(ids, n: int) -> NDArray[np.int32] | None:
    """Check a choice of environments: None means all of them."""
    if ids is None:
        return None
    chosen = np.ascontiguousarray(ids, np.int32)
    if chosen.ndim != 1 or len(np.unique(chosen)) != len(chosen):
        raise BadInput(f"ids must be a list of different environment numbers, got {ids!r}")
    if len(chosen) and not (chosen.min() >= 0 and chosen.max() < n):
        raise BadInput(f"environment numbers must lie in 0..{n - 1}, got {ids!r}")
    return chosen


def as_actions(actions, count: int) -> NDArray[np.float32]:
    """Check one normalised mallet target per environment."""
    array = np.ascontiguousarray(actions, np.float32)
    if array.shape != (count, 2):
        raise BadInput(f"actions must have shape ({count}, 2), got {array.shape}")
    if not np.isfinite(array).all():
        raise BadInput(f"actions must be finite; environment row {int(np.argwhere(~np.isfinite(array))[0][0])} is not")
    return array


def as_launches(launches, count: int) -> NDArray[np.float64]:
    """Check one puck launch (x, y, yaw, vx, vy, yaw rate; table frame) per environment."""
    array = np.ascontiguousarray(launches, np.float64)
    if array.shape != (count, 6):
        raise BadInput(f"launches must have shape ({count}, 6), got {array.shape}")
    if not np.isfinite(array).all():
        raise BadInput("launches must be finite")
    return array
