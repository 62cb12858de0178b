"""The arena in plain NumPy and MuJoCo's own Python bindings: slow, readable, the oracle of the compiled core.

One control step (50 Hz) turns a normalised mallet target into a joint command; twenty physics substeps (1 kHz)
follow that command with joint torques. Read `ReferenceArena.step` first, then down.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import ClassVar

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from blindsave.arena import constants as c
from blindsave.arena import native, scene
from blindsave.errors import BadInput

Floats = NDArray[np.float64]

ARM, UNIVERSAL, PUCK, PUCK_XY = slice(0, 7), slice(7, 9), slice(9, 12), slice(9, 11)
OBSERVED_WRAP = 2 * np.pi
STATE = mujoco.mjtState.mjSTATE_INTEGRATION


@dataclass
class Controller:
    """What the controller of one environment remembers."""

    joint_velocity: Floats = field(default_factory=lambda: np.zeros(7))  # low-passed; feedback and observation
    universal_velocity: Floats = field(default_factory=lambda: np.zeros(2))
    target_filter: Floats | None = None  # (4, 2) states of the Butterworth filter; None before the first action
    commanded_velocity: Floats = field(default_factory=lambda: np.zeros(7))
    command: Floats = field(default_factory=lambda: np.zeros(7))  # end of the last interpolation: position
    command_velocity: Floats = field(default_factory=lambda: np.zeros(7))  # and velocity
    limited_position: Floats = field(default_factory=lambda: np.zeros(7))

    SIZE: ClassVar[int] = 5 * 7 + 2 + 4 * 2

    def pack(self) -> Floats:
        """Everything as one row of numbers; an uninitialised filter is NaN."""
        filter_ = np.full((4, 2), np.nan) if self.target_filter is None else self.target_filter
        values = {**vars(self), "target_filter": filter_}
        return np.concatenate([np.ravel(values[f.name]) for f in fields(self)])

    @classmethod
    def unpack(cls, numbers: Floats) -> "Controller":
        """Inverse of `pack`."""
        parts = np.split(numbers.copy(), [7, 9, 17, 24, 31, 38])
        memory = cls(*parts)
        memory.target_filter = None if np.isnan(parts[2]).any() else parts[2].reshape(4, 2)
        return memory


class ReferenceArena:
    """`n` independent environments of bare physics; the same face as the compiled arena, about thirty times slower.

    Every result is an array of n rows, updated in place by `reset` and `step` for the environments they name.
    """

    def __init__(self, n: int) -> None:
        if n < 1:
            raise BadInput(f"an arena needs at least one environment, got {n}")
        self.n = n
        self._model = copy.copy(scene.physics_model())  # own copy: the puck's drag differs between environments
        self._model_puck_damping = self._model.dof_damping[PUCK_XY].copy()
        self._robot = RobotModel()
        self._puck_geom = self._model.geom("puck").id
        self._mallet_geom = self._model.geom("mallet").id
        self._data = [mujoco.MjData(self._model) for _ in range(n)]
        self._controllers = [Controller() for _ in range(n)]
        self._puck_drag = np.ones(n)
        self._results = np.zeros(n, native.ROW)
        row = self._results
        self.policy_obs, self.obs_raw = row["policy_obs"], row["obs_raw"]
        self.puck_pos, self.puck_vel, self.mallet_pos = row["puck_pos"], row["puck_vel"], row["mallet_pos"]
        self.u_pos, self.cmd_pos, self.cmd_vel = row["u_pos"], row["cmd_pos"], row["cmd_vel"]
        self.qpos, self.qvel = row["qpos"], row["qvel"]
        self.contact, self.absorbing, self.fault = row["contact"], row["absorbing"], row["fault"]

    def reset(
        self,
        launches: ArrayLike,
        ids: Sequence[int] | NDArray[np.int32] | None = None,
        *,
        puck_drag: ArrayLike | None = None,
    ) -> None:
        """Put the arm at home and launch the puck: rows of x, y, yaw, vx, vy, yaw rate in the table frame."""
        rows = self._rows(ids)
        launches = _checked(launches, (len(rows), 6), "launches")
        drags = np.ones(len(rows)) if puck_drag is None else _checked(puck_drag, (len(rows),), "puck_drag")
        for i, launch, drag in zip(rows, launches, drags, strict=True):
            data = self._data[i]
            mujoco.mj_resetData(self._model, data)
            data.qpos[ARM] = c.HOME_ARM_RAD
            data.qpos[PUCK], data.qvel[PUCK] = launch[:3], launch[3:]
            home = data.qpos[ARM].copy()
            self._robot.update(home, np.zeros(7))
            data.qpos[UNIVERSAL] = universal_angles(self._robot.rotation, np.zeros(2))
            self._controllers[i] = Controller(command=home, limited_position=home)
            self._puck_drag[i] = drag
            self.cmd_pos[i] = self.cmd_vel[i] = np.nan  # no command yet
            self.contact[i] = self.fault[i] = False
            self.absorbing[i] = False  # a verdict on a control step, so there is none yet
            self._observe(i)

    def step(self, actions: ArrayLike, ids: Sequence[int] | NDArray[np.int32] | None = None) -> None:
        """Take one control step towards normalised mallet targets, one row of two per environment."""
        rows = self._rows(ids)
        for i, action in zip(rows, _checked(actions, (len(rows), 2), "actions"), strict=True):
            if self.fault[i]:
                continue
            try:
                self._step_one(i, np.asarray(action, np.float32))
            except mujoco.FatalError:
                self.fault[i] = True

    def snapshot(self, i: int) -> bytes:
        """Return everything that decides the future of environment `i`, and what was last read of it."""
        state = np.empty(mujoco.mj_stateSize(self._model, STATE))
        mujoco.mj_getState(self._model, self._data[i], state, STATE)
        physics = np.append(state, self._puck_drag[i])
        return physics.tobytes() + self._controllers[i].pack().tobytes() + self._results[i].tobytes()

    def restore(self, i: int, snapshot: bytes) -> None:
        """Continue from a snapshot, bit for bit."""
        size = mujoco.mj_stateSize(self._model, STATE)
        memory_end = 8 * (size + 1 + Controller.SIZE)
        if len(snapshot) != memory_end + native.ROW.itemsize:
            raise BadInput(f"this is not a snapshot of this arena: it has {len(snapshot)} bytes")
        numbers = np.frombuffer(snapshot[:memory_end])
        mujoco.mj_setState(self._model, self._data[i], numbers[:size].copy(), STATE)
        self._puck_drag[i] = numbers[size]
        self._controllers[i] = Controller.unpack(numbers[size + 1 :])
        self._results[i] = np.frombuffer(snapshot[memory_end:], native.ROW)[0]

    def _rows(self, ids: Sequence[int] | NDArray[np.int32] | None) -> Sequence[int]:
        return range(self.n) if ids is None else [int(i) for i in ids]

    def _step_one(self, i: int, action: NDArray[np.float32]) -> None:
        data, memory = self._data[i], self._controllers[i]
        position, velocity = self._command(data.qpos[ARM].copy(), memory, action)
        self.cmd_pos[i], self.cmd_vel[i] = position, velocity
        rate = (position - memory.command) / c.CONTROL_DT_S
        acceleration = (velocity - memory.command_velocity) / c.CONTROL_DT_S
        touched = False
        self._model.dof_damping[PUCK_XY] = self._puck_drag[i] * self._model_puck_damping
        for j in range(1, c.SUBSTEPS + 1):
            t = j * c.PHYSICS_DT_S
            q_desired = memory.command + t * rate
            dq_desired = memory.command_velocity + t * acceleration
            self._substep(data, memory, (q_desired, dq_desired, acceleration))
            touched |= self._mallet_touches(data)
        memory.command = memory.command + c.CONTROL_DT_S * rate
        memory.command_velocity = memory.command_velocity + c.CONTROL_DT_S * acceleration
        self.contact[i] = touched
        self.absorbing[i] = is_absorbing(data.qpos[PUCK], data.qvel[PUCK])
        self.fault[i] = not (np.isfinite(data.qpos).all() and np.isfinite(data.qvel).all())
        self._observe(i)

    def _command(self, q: Floats, memory: Controller, action: NDArray[np.float32]) -> tuple[Floats, Floats]:
        """Operational-space controller: from the last observation and a target to joint position and velocity."""
        first = memory.target_filter is None
        filtered, memory.target_filter = low_pass(np.clip(action, np.float32(-1), np.float32(1)), memory.target_filter)
        self._robot.update(q, memory.joint_velocity)
        jacobian = self._robot.jacobian()
        error = mallet_target(filtered) - self._robot.position
        task_velocity = c.TASK_STIFFNESS * error - c.TASK_DAMPING * (jacobian @ memory.joint_velocity)
        normal = jacobian @ jacobian.T + c.DAMPED_INVERSE * np.eye(3)
        dq = jacobian.T @ np.linalg.solve(normal, task_velocity)
        dq = dq / max(1.0, np.max(np.abs(dq) / (c.COMMAND_SHARE * c.VELOCITY_LIMIT)))
        previous = memory.joint_velocity if first else memory.commanded_velocity
        acceleration = (dq - previous) / c.CONTROL_DT_S
        excess = np.max(np.abs(acceleration) / (c.COMMAND_SHARE * c.ACCELERATION_LIMIT))
        if excess > 1:
            dq = previous + c.CONTROL_DT_S * acceleration / excess
        memory.commanded_velocity = dq
        return q + c.CONTROL_DT_S * dq, dq

    def _substep(self, data: mujoco.MjData, memory: Controller, desired: tuple[Floats, Floats, Floats]) -> None:
        """One millisecond: joint torques from references and feedback, then physics."""
        q_desired, dq_desired, acceleration = desired
        q_limited, dq_limited = safety_limit(q_desired, dq_desired, memory.limited_position)
        memory.limited_position = q_limited
        q, dq = data.qpos[ARM], memory.joint_velocity
        self._robot.update(q, dq)
        feedforward = self._robot.mass_matrix() @ acceleration + self._robot.bias
        torque = c.STIFFNESS * (q_limited - q) + c.DAMPING * (dq_limited - dq) + feedforward
        data.ctrl[ARM] = np.clip(torque, -c.TORQUE_LIMIT_NM, c.TORQUE_LIMIT_NM)
        data.ctrl[UNIVERSAL] = self._universal_torque(data, memory)
        mujoco.mj_step(self._model, data)
        memory.joint_velocity = c.ARM_FILTER * data.qvel[ARM] + (1 - c.ARM_FILTER) * memory.joint_velocity

    def _universal_torque(self, data: mujoco.MjData, memory: Controller) -> Floats:
        """Keep the mallet upright; `self._robot` must hold the current arm configuration."""
        angles, rates = data.qpos[UNIVERSAL], data.qvel[UNIVERSAL]
        desired = universal_angles(self._robot.rotation, angles)
        share = c.UNIVERSAL_FILTER
        memory.universal_velocity = share * rates + (1 - share) * memory.universal_velocity
        return c.UNIVERSAL_STIFFNESS * (desired - angles) - c.UNIVERSAL_DAMPING * memory.universal_velocity

    def _mallet_touches(self, data: mujoco.MjData) -> bool:
        """Whether the contact list left by the last substep holds the puck and the mallet."""
        pairs = data.contact.geom[: data.ncon]
        return any({int(a), int(b)} == {self._puck_geom, self._mallet_geom} for a, b in pairs)

    def _observe(self, i: int) -> None:
        data, memory = self._data[i], self._controllers[i]
        q, dq = data.qpos[ARM], memory.joint_velocity
        self._robot.update(q, dq)
        puck, puck_velocity = data.qpos[PUCK], data.qvel[PUCK]
        self.qpos[i], self.qvel[i] = data.qpos, data.qvel
        self.puck_pos[i], self.puck_vel[i] = puck, puck_velocity
        self.mallet_pos[i] = self._robot.position + c.ROBOT_BASE_M
        self.u_pos[i] = data.qpos[UNIVERSAL]
        seen = np.array([puck[0] - c.ROBOT_BASE_M[0], puck[1], (puck[2] + np.pi) % OBSERVED_WRAP - np.pi])
        self.obs_raw[i] = np.concatenate([seen, puck_velocity, q, dq])
        self.policy_obs[i] = np.concatenate(
            [
                q / c.JOINT_RANGE_RAD,
                dq,
                normalise(self._robot.position[:2], c.MALLET_BOX_M),
                normalise(seen[:2], c.PUCK_BOX_M),
                puck_velocity[:2],
            ]
        )


class RobotModel:
    """Kinematics and dynamics of the arm without its mallet, as the controller believes it to be."""

    def __init__(self) -> None:
        self._model = scene.robot_model()
        self._data = mujoco.MjData(self._model)
        self._rod_end = self._model.body("rod_end").id

    def update(self, q: Floats, dq: Floats) -> None:
        """Move the model to a joint state; everything else reads that state."""
        self._data.qpos[:], self._data.qvel[:] = q, dq
        mujoco.mj_fwdPosition(self._model, self._data)
        mujoco.mj_fwdVelocity(self._model, self._data)

    @property
    def position(self) -> Floats:
        """Rod end in the robot frame."""
        return self._data.xpos[self._rod_end].copy()

    @property
    def rotation(self) -> Floats:
        """Orientation of the rod end in the robot frame."""
        return self._data.xmat[self._rod_end].reshape(3, 3)

    @property
    def bias(self) -> Floats:
        """Gravity and Coriolis torques."""
        return self._data.qfrc_bias.copy()

    def mass_matrix(self) -> Floats:
        """Joint-space inertia, armature included."""
        full = np.zeros((7, 7))
        mujoco.mj_fullM(self._model, self._data, full)
        return full

    def jacobian(self) -> Floats:
        """Linear Jacobian (3, 7) of the rod end."""
        jacobian = np.zeros((3, 7))
        mujoco.mj_jacBody(self._model, self._data, jacobian, None, self._rod_end)
        return jacobian


def low_pass(action: NDArray[np.float32], state: Floats | None) -> tuple[NDArray[np.float32], Floats]:
    """Filter a two-dimensional action: direct form II transposed, in equilibrium with the first action."""
    x = action.astype(np.float64)
    if state is None:
        state = c.BUTTER_STEADY[:, None] * x
    y = state[0] + c.BUTTER_B[0] * x
    shifted = np.vstack([state[1:], np.zeros((1, 2))])
    return y.astype(np.float32), shifted + np.outer(c.BUTTER_B[1:], x) - np.outer(c.BUTTER_A[1:], y)


def mallet_target(action: NDArray[np.float32]) -> Floats:
    """Denormalise a mallet target; single precision where the original controller stores single precision."""
    low, high = c.MALLET_BOX_M
    xy = (high - low) * (action + np.float32(1)).astype(np.float64) / 2 + low
    return np.array([*xy, c.MALLET_HEIGHT_M]).astype(np.float32).astype(np.float64)


def safety_limit(q_desired: Floats, dq_desired: Floats, last: Floats) -> tuple[Floats, Floats]:
    """Keep references inside the joint ranges, slowing down on approach; `last` is the previous limited position."""
    slowest = np.clip(-c.LIMITER_GAIN * (last + c.JOINT_RANGE_RAD), -c.VELOCITY_LIMIT, c.VELOCITY_LIMIT)
    fastest = np.clip(-c.LIMITER_GAIN * (last - c.JOINT_RANGE_RAD), -c.VELOCITY_LIMIT, c.VELOCITY_LIMIT)
    q = np.clip(q_desired, last + slowest * c.PHYSICS_DT_S, last + fastest * c.PHYSICS_DT_S)
    return q, np.clip(dq_desired, slowest, fastest)


def universal_angles(rotation: Floats, last: Floats) -> Floats:
    """Angles of the universal joint that hold the mallet upright at this orientation of the rod end.

    The second rotation squares the skew matrix element by element. That is what the original arm does (a matrix
    square would be right), and the mallet's tilt of up to 16 degrees at full reach is part of its behaviour.
    """
    x, y = rotation[:, 0], rotation[:, 1]
    desired_x = np.array([-y[1], y[0], 0.0])
    first = np.arctan2(y @ skew(x) @ desired_x, x @ desired_x)
    turn = skew(y)
    turned = x + np.sin(first) * (turn @ x) + (1 - np.cos(first)) * ((turn * turn) @ x)
    desired_y = np.array([turned[1], -turned[0], 0.0])
    second = np.arctan2(turned @ turn @ desired_y, y @ desired_y)
    angles = np.array([first, second])
    angles = np.where(angles - last > np.pi, angles - 2 * np.pi, angles)
    angles = np.where(angles - last < -np.pi, angles + 2 * np.pi, angles)
    return np.clip(angles, -c.UNIVERSAL_CLAMP_RAD, c.UNIVERSAL_CLAMP_RAD)


def skew(v: Floats) -> Floats:
    """Return the matrix whose product with w is the cross product of v and w."""
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def normalise(position: Floats, box: Floats) -> Floats:
    """Map a box to [-1, 1] per axis."""
    low, high = box
    return 2 * (position - low) / (high - low) - 1


def is_absorbing(puck: Floats, velocity: Floats) -> bool:
    """Whether the play is over by the arena's own measure: puck returned, stopped, off the table or absurdly fast."""
    x, y, _ = puck
    speed = np.sqrt(velocity[0] ** 2 + velocity[1] ** 2)
    returned = x > 0 and velocity[0] > 0
    outside = abs(x) > c.TABLE_LENGTH_M / 2 or abs(y) > c.TABLE_WIDTH_M / 2
    return bool(returned or speed < 0.1 or outside or np.linalg.norm(velocity) > 100)


def _checked(values: ArrayLike, shape: tuple[int, ...], name: str) -> NDArray:
    array = np.asarray(values)
    if array.shape != shape:
        raise BadInput(f"{name} must have shape {shape}, got {array.shape}")
    if not np.isfinite(array).all():
        raise BadInput(f"{name} must be finite numbers, got {array[~np.isfinite(array)].ravel()[0]}")
    return array
