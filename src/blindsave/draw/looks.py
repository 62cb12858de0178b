"""What the arena looks like: an iiwa drawn with primitives, the table with its markings, floor, lights, cameras.

Nothing here is simulated: every geom has no mass, no contact bits, a name, and group 1 (the physical geoms it covers
are in group 0). The frames of the links are those of `scene.py`: every joint turns about its body's own z axis, and at
the even joints (shoulder, elbow, wrist) two housings sit side by side on that axis, as on the real arm.
"""

from functools import cache
from math import cos, radians, sin

import mujoco
import numpy as np

from blindsave.arena import constants as c
from blindsave.arena import scene

SHELL, TRIM, DARK, METAL = "shell", "trim", "dark", "metal"
FLOOR_Z_M = -0.78
HALF_X_M, HALF_Y_M, RIM_M = c.TABLE_LENGTH_M / 2, c.TABLE_WIDTH_M / 2, 0.09

ASSETS = """
    <texture name="sky" type="skybox" builtin="gradient" rgb1="0.30 0.36 0.44" rgb2="0.07 0.08 0.11"
             width="256" height="256"/>
    <texture name="floor" type="2d" builtin="checker" rgb1="0.150 0.165 0.195" rgb2="0.162 0.178 0.210"
             width="256" height="256"/>
    <material name="floor" texture="floor" texrepeat="40 40" specular="0.2" shininess="0.3" reflectance="0.10"/>
    <material name="shell" rgba="0.90 0.91 0.93 1" specular="0.45" shininess="0.55"/>
    <material name="trim" rgba="1.00 0.45 0.05 1" specular="0.4" shininess="0.5"/>
    <material name="dark" rgba="0.16 0.17 0.19 1" specular="0.4" shininess="0.5"/>
    <material name="metal" rgba="0.62 0.65 0.70 1" specular="0.9" shininess="0.8"/>
    <material name="pedestal" rgba="0.25 0.27 0.31 1" specular="0.3" shininess="0.4"/>
    <material name="surface" rgba="0.105 0.205 0.330 1" specular="0.35" shininess="0.7" reflectance="0.06"/>
    <material name="line" rgba="0.86 0.91 0.96 1" specular="0.1"/>
    <material name="line_red" rgba="0.87 0.26 0.24 1" specular="0.1"/>
    <material name="rail" rgba="0.80 0.82 0.85 1" specular="0.8" shininess="0.7"/>
    <material name="cabinet" rgba="0.10 0.11 0.14 1" specular="0.3" shininess="0.4"/>
    <material name="goal" rgba="0.02 0.02 0.03 1"/>
    <material name="foam" rgba="0.83 0.13 0.16 1" specular="0.15" shininess="0.2"/>
    <material name="puck" rgba="1.00 0.80 0.10 1" specular="0.4" shininess="0.6" emission="0.25"/>
    <material name="puck_top" rgba="0.93 0.60 0.03 1" specular="0.4" shininess="0.6" emission="0.25"/>"""


def _geom(name: str, kind: str, material: str, placing: str) -> str:
    return (
        f'\n<geom name="look_{name}" type="{kind}" material="{material}" {placing} '
        f'mass="0" contype="0" conaffinity="0" group="1"/>'
    )


def _rod(name: str, start: tuple, end: tuple, radius: float, material: str = SHELL, kind: str = "cylinder") -> str:
    ends = " ".join(f"{v:g}" for v in (*start, *end))
    return _geom(name, kind, material, f'fromto="{ends}" size="{radius:g}"')


def _ball(name: str, centre: tuple, radii: tuple, material: str = SHELL) -> str:
    place = f'pos="{" ".join(map(str, centre))}" size="{" ".join(map(str, radii))}"'
    return _geom(name, "ellipsoid", material, place)


def _box(name: str, centre: tuple, half: tuple, material: str) -> str:
    place = f'pos="{" ".join(f"{v:g}" for v in centre)}" size="{" ".join(f"{v:g}" for v in half)}"'
    return _geom(name, "box", material, place)


def _housing(name: str, centre: tuple, axis: tuple, radius: float, width: float) -> str:
    """Draw half a joint: a round shell from the joint's centre out along `axis`, closed by a dark cap."""

    def at(share: float) -> tuple:
        return tuple(m + a * width * share for m, a in zip(centre, axis, strict=True))

    return (
        _rod(f"{name}_shell", at(0.03), at(0.72), radius)
        + _ball(f"{name}_dome", at(0.70), _squashed(axis, radius, 0.30 * width))
        + _rod(f"{name}_ring", at(0.86), at(0.93), 0.74 * radius, TRIM)
        + _rod(f"{name}_cap", at(0.90), at(0.99), 0.66 * radius, DARK)
    )


def _squashed(axis: tuple, radius: float, depth: float) -> tuple:
    return tuple(depth if a else radius for a in axis)


def _base() -> str:
    return (
        _rod("base_plate", (0, 0, 0), (0, 0, 0.014), 0.118, DARK)
        + _rod("base_foot", (0, 0, 0.012), (0, 0, 0.034), 0.106)
        + _ball("base_flare", (0, 0, 0.034), (0.106, 0.106, 0.075))
        + _rod("base_barrel", (0, 0, 0.05), (0, 0, 0.149), 0.080)
        + _box("base_socket", (-0.098, 0, 0.050), (0.022, 0.045, 0.030), DARK)
        + _rod("base_ring", (0, 0, 0.147), (0, 0, 0.157), 0.0785, TRIM)
    )


def _link_1() -> str:
    return (
        _rod("link_1_seat", (0, 0, 0.002), (0, 0, 0.06), 0.0795)
        + _rod("link_1_tube", (0, 0, 0.06), (0, -0.022, 0.2025), 0.0795, kind="capsule")
        + _housing("link_1", (0, 0, 0.2025), (0, -1, 0), 0.080, 0.112)
    )


def _link_2() -> str:
    return (
        _housing("link_2", (0, 0, 0), (0, 0, 1), 0.080, 0.112)
        + _rod("link_2_tube", (0, 0, 0.022), (0, 0.135, 0.001), 0.0765, kind="capsule")
        + _rod("link_2_neck", (0, 0.135, 0.001), (0, 0.1955, 0), 0.0765)
        + _rod("link_2_collar", (0, 0.194, 0), (0, 0.2035, 0), 0.0735, TRIM)
    )


def _link_3() -> str:
    return (
        _rod("link_3_seat", (0, 0, 0.001), (0, 0, 0.07), 0.0735)
        + _rod("link_3_tube", (0, 0, 0.07), (0, 0.020, 0.2155), 0.0735, kind="capsule")
        + _housing("link_3", (0, 0, 0.2155), (0, 1, 0), 0.0745, 0.104)
    )


def _link_4() -> str:
    return (
        _housing("link_4", (0, 0, 0), (0, 0, 1), 0.0745, 0.104)
        + _rod("link_4_tube", (0, 0, 0.020), (0, 0.125, 0.001), 0.0705, kind="capsule")
        + _rod("link_4_neck", (0, 0.125, 0.001), (0, 0.1755, 0), 0.0705)
        + _rod("link_4_collar", (0, 0.174, 0), (0, 0.1835, 0), 0.0670, TRIM)
    )


def _link_5() -> str:
    return (
        _rod("link_5_seat", (0, 0, 0.001), (0, 0, 0.05), 0.0670)
        + _rod("link_5_tube", (0, 0, 0.05), (0, 0.012, 0.135), 0.0670, kind="capsule")
        + _rod("link_5_cheek", (0, 0.028, 0.12), (0, 0.056, 0.2155), 0.0470, kind="capsule")
        + _rod("link_5_shell", (0, 0.030, 0.2155), (0, 0.070, 0.2155), 0.0600)
        + _ball("link_5_dome", (0, 0.070, 0.2155), (0.0600, 0.030, 0.0600))
        + _rod("link_5_ring", (0, 0.090, 0.2155), (0, 0.096, 0.2155), 0.0430, TRIM)
        + _rod("link_5_cap", (0, 0.090, 0.2155), (0, 0.101, 0.2155), 0.0375, DARK)
    )


def _link_6() -> str:
    return (
        _ball("link_6_ball", (0, 0, 0.004), (0.0690, 0.0690, 0.066))
        + _rod("link_6_ring", (0, 0, -0.029), (0, 0, -0.024), 0.0640, TRIM)
        + _rod("link_6_nose", (0, 0.02, 0), (0, 0.074, 0), 0.0520)
        + _ball("link_6_cap", (0, 0, 0.052), (0.044, 0.044, 0.021), DARK)
    )


def _link_7() -> str:
    """The flange and the rod that carries the mallet, down to just above the universal joint."""
    return (
        _rod("link_7_ring", (0, 0, -0.008), (0, 0, 0.000), 0.0505, TRIM)
        + _rod("link_7_flange", (0, 0, 0), (0, 0, 0.034), 0.0485, METAL)
        + _rod("link_7_plate", (0, 0, 0.034), (0, 0, 0.047), 0.0420, DARK)
        + _rod("rod_socket", (0, 0, 0.045), (0, 0, 0.100), 0.0210, DARK)
        + _rod("rod", (0, 0, 0.09), (0, 0, 0.545), 0.0115, METAL)
        + _rod("rod_clamp", (0, 0, 0.098), (0, 0, 0.106), 0.0225, TRIM)
        + _rod("rod_tip", (0, 0, 0.535), (0, 0, 0.572), 0.0150, DARK)
    )


def _mallet() -> str:
    """The mallet hangs down along its own z axis; drawn down to the table, where the collision cylinder goes on."""
    return (
        _rod("mallet_neck", (0, 0, 0.004), (0, 0, 0.024), 0.0125, METAL)
        + _rod("mallet_knob", (0, 0, 0.0205), (0, 0, 0.030), 0.0330, DARK)
        + _rod("mallet_body", (0, 0, 0.028), (0, 0, 0.047), 0.0462, SHELL)
        + _rod("mallet_foam", (0, 0, 0.046), (0, 0, 0.0630), c.MALLET_RADIUS_M, "foam")
    )


def _puck() -> str:
    top = 0.0202
    return (
        _rod("puck_body", (0, 0, 0.0006), (0, 0, 0.0196), c.PUCK_RADIUS_M, "puck")
        + _rod("puck_face", (0, 0, 0.018), (0, 0, top), 0.74 * c.PUCK_RADIUS_M, "puck_top")
        + _rod("puck_dot", (0.013, 0, 0.018), (0.013, 0, top + 0.0002), 0.0045, DARK)
    )


_BODIES = {
    "base": _base,
    "link_1": _link_1,
    "link_2": _link_2,
    "link_3": _link_3,
    "link_4": _link_4,
    "link_5": _link_5,
    "link_6": _link_6,
    "link_7": _link_7,
    "rod_end": lambda: _ball("joint", (0, 0, 0), (0.0135, 0.0135, 0.0135), METAL),
    "mallet": _mallet,
    "puck": _puck,
}


def decorate(body_name: str) -> str:
    """Return the visual geoms of one body of the scene as MJCF; nothing for a body that has no looks."""
    return _BODIES[body_name]() if body_name in _BODIES else ""


def _arc(name: str, centre_x: float, radius: float, degrees: tuple[int, int], material: str) -> str:
    """Draw a circle's line on the surface as a chain of short flat boxes."""
    first, last = degrees
    step, half = 6, 0.003
    xml = ""
    for k, angle in enumerate(range(first, last, step)):
        turn = radians(angle + step / 2)
        length = 1.03 * radius * radians(step) / 2
        x, y = centre_x + radius * cos(turn), radius * sin(turn)
        place = f'pos="{x:.5f} {y:.5f} 0.0003" size="{half} {length:.5f} 0.0003" euler="0 0 {turn:.5f}"'
        xml += _geom(f"{name}_{k}", "box", material, place)
    return xml


def _markings() -> str:
    xml = _box("centre_line", (0, 0, 0.0003), (0.004, HALF_Y_M, 0.0003), "line_red")
    xml += _arc("centre_circle", 0.0, 0.15, (0, 360), "line_red")
    xml += _rod("centre_spot", (0, 0, 0), (0, 0, 0.0007), 0.014, "line_red")
    for end, sign, arc in (("home", -1, (-90, 90)), ("away", 1, (90, 270))):
        xml += _arc(f"{end}_crease", sign * HALF_X_M, 0.26, arc, "line")
        xml += _box(f"{end}_zone", (sign * 0.487, 0, 0.0003), (0.002, HALF_Y_M, 0.0003), "line")
        goal = (sign * (HALF_X_M + 0.004), 0, 0.0004)
        xml += _box(f"{end}_goal_line", goal, (0.004, c.GOAL_WIDTH_M / 2, 0.0004), "line_red")
        pit = (sign * (HALF_X_M + 0.049), 0, 0.0003)
        xml += _box(f"{end}_goal_pit", pit, (0.0415, c.GOAL_WIDTH_M / 2, 0.0003), "goal")
    return xml


def _rails() -> str:
    half, outer_x = RIM_M / 2, HALF_X_M + RIM_M
    xml = ""
    for side, sy in (("left", 1), ("right", -1)):
        xml += _box(f"rail_{side}", (0, sy * (HALF_Y_M + half), 0.015), (outer_x, half, 0.0152), "rail")
        xml += _box(f"skirt_{side}", (0, sy * (HALF_Y_M + RIM_M), -0.055), (outer_x, 0.006, 0.085), "cabinet")
        for end, sx in (("home", -1), ("away", 1)):
            turn = "1 0 0 0" if sy > 0 else "0 0 0 1"
            place = f'mesh="rim_prism" pos="{sx * (HALF_X_M + half)} {sy * 0.322} 0.0002" quat="{turn}"'
            xml += _geom(f"rail_{end}_{side}", "mesh", "rail", place)
            leg = (sx * 0.86, sy * 0.44)
            xml += _rod(f"leg_{end}_{side}", (*leg, FLOOR_Z_M + 0.02), (*leg, -0.10), 0.035, "cabinet")
            xml += _rod(f"foot_{end}_{side}", (*leg, FLOOR_Z_M), (*leg, FLOOR_Z_M + 0.022), 0.05, METAL)
    for end, sx in (("home", -1), ("away", 1)):
        xml += _box(f"skirt_{end}", (sx * outer_x, 0, -0.072), (0.006, HALF_Y_M + RIM_M, 0.068), "cabinet")
    return xml


def _hall() -> str:
    x, _, base_z = c.ROBOT_BASE_M
    return (
        _geom("floor", "plane", "floor", f'pos="0 0 {FLOOR_Z_M}" size="30 30 0.1"')
        + _box("surface", (0, 0, -0.05), (HALF_X_M + RIM_M - 0.001, HALF_Y_M + RIM_M - 0.001, 0.05), "surface")
        + _box("cabinet", (0, 0, -0.09), (HALF_X_M + 0.05, HALF_Y_M + 0.05, 0.05), "cabinet")
        + _rod("pedestal_foot", (x, 0, FLOOR_Z_M), (x, 0, FLOOR_Z_M + 0.025), 0.24, "pedestal")
        + _rod("pedestal", (x, 0, FLOOR_Z_M + 0.02), (x, 0, base_z - 0.02), 0.125, "pedestal")
        + _rod("pedestal_top", (x, 0, base_z - 0.026), (x, 0, base_z), 0.165, METAL)
    )


LIGHTS = """
<light name="key" type="directional" pos="0.8 -2.0 4" dir="-0.35 0.50 -1" castshadow="true"
       diffuse="0.62 0.61 0.58" specular="0.35 0.35 0.35"/>
<light name="fill" type="directional" pos="-2 3 3" dir="0.6 -0.8 -0.9" castshadow="false"
       diffuse="0.20 0.23 0.28" specular="0.1 0.1 0.1"/>"""


def _camera(name: str, at: tuple[float, float, float], looks_at: tuple[float, float, float], fovy: float) -> str:
    """Place a camera upright; its own axes are x right, y up."""
    forward = np.subtract(looks_at, at)
    right = np.cross(forward, (0.0, 0.0, 1.0))
    axes = " ".join(f"{v:.6f}" for v in (*right, *np.cross(right, forward)))
    return f'\n<camera name="{name}" pos="{at[0]} {at[1]} {at[2]}" xyaxes="{axes}" fovy="{fovy}"/>'


# `draw/cameras.py` places the first two again for every size of picture.
CAMERAS = (
    _camera("shot", (0.85, -3.2, 2.3), (-0.35, 0.0, 0.1), 30)
    + _camera("striker", (3.2, -0.35, 3.1), (-0.35, 0.0, 0.1), 30)
    + _camera("robot", (-0.25, -1.15, 0.72), (-1.15, 0.0, 0.24), 45)
)

WORLD = LIGHTS + CAMERAS + _hall() + _rails() + _markings()


@cache
def visual_model() -> mujoco.MjModel:
    """Compile the scene for pictures. Treat it as read-only."""
    return mujoco.MjModel.from_xml_string(scene.scene_xml(scene.Look(decorate, WORLD, ASSETS)))


def dress(model: mujoco.MjModel, width: int, height: int, fine: bool = True) -> mujoco.MjModel:
    """Set the picture quality of a compiled model in place: frame size, ambient light, fine shadows, round shapes.

    Without `fine` there are no shadows, and a picture takes a tenth of the time: films need that where there is no
    graphics card.
    """
    vis = model.vis
    vis.global_.offwidth, vis.global_.offheight = width, height
    vis.quality.offsamples, vis.quality.shadowsize = (8, 4096) if fine else (4, 0)
    vis.quality.numslices, vis.quality.numstacks = (64, 32) if fine else (28, 14)
    vis.headlight.ambient[:] = 0.30
    vis.headlight.diffuse[:] = 0.22
    vis.headlight.specular[:] = 0.0
    vis.map.znear, vis.map.zfar = 0.05, 20.0
    model.stat.extent = 2.0
    model.stat.center[:] = (-0.6, 0.0, 0.0)
    vis.map.shadowclip, vis.map.shadowscale = 0.85, 0.6
    vis.map.haze = 0.35
    vis.rgba.haze[:] = (0.10, 0.115, 0.14, 1.0)
    return model
