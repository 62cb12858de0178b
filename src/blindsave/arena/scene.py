"""The MuJoCo scene, built in code: table, rim, puck, KUKA iiwa with mallet; and the robot-only model of the controller.

`physics_model` holds exactly what can move or touch. Whoever wants something to look at passes `scene_xml` a `Look`,
whose geoms never collide and weigh nothing, so that both simulate alike (draw/looks.py).
"""

from collections.abc import Callable
from functools import cache
from math import cos, pi, sin
from typing import NamedTuple

import mujoco
import numpy as np

from blindsave.arena import constants as c


class Link(NamedTuple):
    """One rigid body of the arm; every joint turns about the body's own z axis."""

    pos: str
    quat: str
    com: str
    mass: float
    inertia: str  # Ixx Iyy Izz Ixy Ixz Iyz about the centre of mass


LINKS = (
    Link("0 0 0.1575", "1 0 0 0", "4.007709e-06 -0.033936 0.122467", 8.240527,
         "0.021981 0.022182 0.008234 -2.897243e-07 6.3165236e-07 0.003285"),
    Link("0 0 0.2025", "0 0 1 1", "0.003402 0.034792 0.046725", 6.357896,
         "0.015565 0.005180 0.015484 -4.147301e-06 1.192255e-05 0.002538"),
    Link("0 0.2045 0", "0 0 1 1", "-0.001452 0.031526 0.133584", 4.042756,
         "0.010914 0.010381 0.003139 -3.540575e-06 -9.059062e-06 -0.002128"),
    Link("0 0 0.2155", "1 1 0 0", "-0.002527 0.053508 0.037205", 3.642249,
         "0.007536 0.002538 0.007206 -5.707028e-06 2.781894e-06 0.001256"),
    Link("0 0.1845 0", "0 0 1 1", "0.001855 0.024573 0.080131", 2.580896,
         "0.005201 0.004488 0.002242 1.089316e-07 9.035623e-07 -0.001613"),
    Link("0 0 0.2155", "1 1 0 0", "-0.001739 -0.001973 -0.002502", 2.760564,
         "0.002534 0.001821 0.002393 -1.311766e-06 9.508242e-07 0.000134"),
    Link("0 0.081 0", "0 0 1 1", "0.000735 0.000387 0.026460", 1.285417,
         "0.000151 0.000150 0.000187 -7.223100e-08 2.038333e-06 -3.396830e-07"),
)  # fmt: skip
ROD_END_POS = "0 0 0.585"

# Collision bits: the puck (3) meets the rim (1) and the mallet (2); rim and mallet never meet each other.
RIM_BIT, MALLET_BIT, PUCK_BITS = 1, 2, 3


def rim_prism() -> tuple[np.ndarray, np.ndarray]:
    """Return vertices (36, 3) in mm and triangles (68, 3) of one quarter of the end walls.

    An extruded rectangle whose two goal-side corners are 5 mm fillets of seven chords. Contact points depend on
    the order of vertices and faces, so both follow the order of the shape that the golden traces were recorded with.
    """
    points: dict[str, tuple[float, float]] = {"TR": (45.0, 197.0), "TL": (-45.0, 197.0)}
    for k in range(8):
        x, y = 40 + 5 * cos(k * pi / 14), -(192 + 5 * sin(k * pi / 14))
        points[f"L{k}"], points[f"R{k}"] = (-x, y), (x, y)
    # Capital B and T mark the bottom (z = 0) and top (z = 20 mm) copy of a corner.
    order = (
        "TR.B TL.B TR.T TL.T L0.B L0.T L1.B L1.T L2.B L2.T L3.B L3.T L4.T L4.B L5.B L5.T L6.B L6.T L7.B L7.T "
        "R7.B R7.T R6.B R6.T R5.B R5.T R4.B R4.T R3.B R3.T R2.T R2.B R1.B R1.T R0.T R0.B"
    )
    vertices = [(*points[name[:2]], 20.0 if name.endswith("T") else 0.0) for name in order.split()]
    triangles = (
        "0 1 2 2 1 3 1 4 3 3 4 5 4 6 5 5 6 7 7 8 9 6 8 7 9 10 11 11 10 12 8 10 9 10 13 12 12 14 15 13 14 12 15 16 17 "
        "14 16 15 17 18 19 16 18 17 18 20 19 19 20 21 20 22 21 21 22 23 23 24 25 22 24 23 25 26 27 24 26 25 27 28 29 "
        "29 28 30 26 28 27 28 31 30 30 32 33 33 32 34 31 32 30 32 35 34 35 0 34 34 0 2 10 14 13 8 6 10 10 4 14 6 4 10 "
        "14 18 16 4 18 14 20 24 22 26 32 28 28 32 31 18 35 20 24 35 26 4 35 18 20 35 24 26 35 32 4 1 35 1 0 35 "
        "15 11 12 7 9 11 5 11 15 5 7 11 19 15 17 19 5 15 25 21 23 33 27 29 33 29 30 34 19 21 34 25 27 34 5 19 "
        "34 21 25 34 27 33 3 5 34 2 3 34"
    )
    return np.array(vertices, np.float32), np.array(triangles.split(), np.int32).reshape(-1, 3)


def _numbers(values) -> str:
    return " ".join(f"{float(v):.17g}" for v in np.ravel(values))


def _arm(inside: str, decorate) -> str:
    """Nest the seven links; `inside` is what hangs at the rod end, `decorate(body)` what is drawn on each body."""
    xml = f"""
      <body name="rod_end" pos="{ROD_END_POS}">
        <inertial pos="0 0 0" mass="0.1" diaginertia="0.001 0.001 0.001"/>{decorate("rod_end")}{inside}
      </body>"""
    for i in reversed(range(7)):
        link = LINKS[i]
        xml = f"""
      <body name="link_{i + 1}" pos="{link.pos}" quat="{link.quat}">
        <inertial pos="{link.com}" mass="{link.mass}" fullinertia="{link.inertia}"/>
        <joint name="joint_{i + 1}" range="{-c.JOINT_RANGE_RAD[i]:.17g} {c.JOINT_RANGE_RAD[i]:.17g}"
               damping="{c.JOINT_DAMPING[i]:.17g}" frictionloss="{c.JOINT_FRICTION[i]:.17g}"
               armature="{c.JOINT_ARMATURE[i]:.17g}"/>{decorate(f"link_{i + 1}")}{xml}
      </body>"""
    return xml


def _mallet(decorate) -> str:
    limit = f"{-c.UNIVERSAL_RANGE_RAD} {c.UNIVERSAL_RANGE_RAD}"
    return f"""
        <body name="mallet">
          <inertial pos="0 0 0.0682827" mass="0.283" diaginertia="0.005 0.005 0.005"/>
          <joint name="universal_1" axis="0 1 0" range="{limit}"/>
          <joint name="universal_2" axis="1 0 0" range="{limit}"/>
          <geom name="mallet" type="cylinder" pos="0 0 0.0505" size="{c.MALLET_RADIUS_M} 0.03" condim="4"
                friction="0 0 0" solref="0.02 0.3" contype="{MALLET_BIT}" conaffinity="{MALLET_BIT}"
                rgba="0.85 0.15 0.15 1"/>{decorate("mallet")}
        </body>"""


def _rim() -> str:
    half_x, wall = c.TABLE_LENGTH_M / 2, 0.045
    bits = f'class="rim" contype="{RIM_BIT}" conaffinity="{RIM_BIT}"'
    sides = "".join(
        f'<geom name="wall_{name}" type="box" size="{half_x + 2 * wall} {wall} 0.015" '
        f'pos="0 {sign * (c.TABLE_WIDTH_M / 2 + wall)} 0.015" {bits}/>'
        for name, sign in (("left", 1), ("right", -1))
    )
    ends = "".join(
        f'<geom name="end_{end}_{side}" type="mesh" mesh="rim_prism" pos="{ex * (half_x + wall)} {sy * 0.322} 0" '
        f'quat="{"1 0 0 0" if sy > 0 else "0 0 0 1"}" {bits}/>'
        for end, ex in (("home", -1), ("away", 1))
        for side, sy in (("left", 1), ("right", -1))
    )
    return f'<body name="rim">{sides}{ends}</body>'


def _puck(decorate) -> str:
    return f"""
    <body name="puck">
      <inertial pos="0 0 0" mass="0.01" diaginertia="2.5e-6 2.5e-6 5e-6"/>
      <joint name="puck_x" type="slide" axis="1 0 0" damping="0.005"/>
      <joint name="puck_y" type="slide" axis="0 1 0" damping="0.005"/>
      <joint name="puck_yaw" type="hinge" axis="0 0 1" damping="2e-6"/>
      <geom name="puck" type="cylinder" pos="0 0 0.01" size="{c.PUCK_RADIUS_M} 0.01" condim="4" solref="0.02 0.3"
            contype="{PUCK_BITS}" conaffinity="{PUCK_BITS}" rgba="0.95 0.75 0.1 1"/>{decorate("puck")}
    </body>"""


class Look(NamedTuple):
    """What is drawn besides the physical geoms, as MJCF."""

    decorate: Callable[[str], str]
    """What is drawn on a body of this name."""
    world: str
    assets: str


PLAIN = Look(lambda _body: "", "", "")
"""Nothing to look at."""


def scene_xml(look: Look = PLAIN) -> str:
    """Return the whole scene as MJCF."""
    decorate, world, assets = look
    vertices, triangles = rim_prism()
    motors = "".join(
        f'<motor name="torque_{i + 1}" joint="joint_{i + 1}" ctrlrange="{-t} {t}"/>'
        for i, t in enumerate(c.TORQUE_LIMIT_NM)
    ) + "".join(
        f'<motor name="torque_universal_{i}" joint="universal_{i}" '
        f'ctrlrange="{-c.UNIVERSAL_TORQUE_NM} {c.UNIVERSAL_TORQUE_NM}"/>'
        for i in (1, 2)
    )
    return f"""
<mujoco model="blindsave">
  <compiler angle="radian" autolimits="true"/>
  <option timestep="{c.PHYSICS_DT_S}" cone="elliptic" impratio="1">
    <!-- A diverged state must be counted as a fault, never silently reset. -->
    <flag autoreset="disable"/>
  </option>
  <size memory="4M"/>
  <default>
    <default class="rim">
      <geom condim="6" priority="1" friction="10000 0 0" solref="0.0075 0.1" solimp="0.99 0.999 0.001 0.5 2"
            rgba="0.35 0.37 0.42 1"/>
    </default>
  </default>
  <asset>
    <mesh name="rim_prism" scale="0.001 0.001 0.001" vertex="{_numbers(vertices)}"
          face="{" ".join(map(str, triangles.ravel()))}"/>{assets}
  </asset>
  <worldbody>{world}
    <body name="base" pos="{_numbers(c.ROBOT_BASE_M)}">{decorate("base")}{_arm(_mallet(decorate), decorate)}
    </body>
    {_rim()}{_puck(decorate)}
  </worldbody>
  <actuator>{motors}</actuator>
</mujoco>"""


def robot_xml() -> str:
    """Return the controller's own model: the arm and rod end at the origin, without mallet and universal joint."""
    return f"""
<mujoco model="blindsave robot">
  <compiler angle="radian" autolimits="true"/>
  <option timestep="{c.PHYSICS_DT_S}"/>
  <worldbody><body name="base">{_arm("", lambda _body: "")}</body></worldbody>
</mujoco>"""


@cache
def physics_model() -> mujoco.MjModel:
    """Compile the scene with nothing to look at: what every simulation runs on. Treat it as read-only."""
    return mujoco.MjModel.from_xml_string(scene_xml())


@cache
def robot_model() -> mujoco.MjModel:
    """Compile the robot-only model, whose dynamics the controller compensates. Treat it as read-only."""
    return mujoco.MjModel.from_xml_string(robot_xml())
