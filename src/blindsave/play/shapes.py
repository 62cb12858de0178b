"""The arena's looks as triangles: every visual geom of the scene, joined by body and material.

Vertices are not shared across edges, so smooth shading keeps cylinders round and their rims sharp.
"""

import functools
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from blindsave.draw import looks

SIDES = 32
LOOKS_GROUP = 1
Vertices, Faces = NDArray[np.float64], NDArray[np.int64]


class Mesh(NamedTuple):
    """Triangles: vertices (v, 3) in metres and faces (f, 3)."""

    vertices: Vertices
    faces: Faces


class Part(NamedTuple):
    """What one body shows in one material, in the body's frame."""

    body: str
    material: str
    colour: tuple[int, int, int]
    mesh: Mesh


def join(meshes: list[Mesh]) -> Mesh:
    """Several meshes as one."""
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
    faces = [mesh.faces + start for mesh, start in zip(meshes, starts[:-1], strict=True)]
    return Mesh(np.concatenate([mesh.vertices for mesh in meshes]), np.concatenate(faces))


def grid(points: NDArray[np.float64]) -> Mesh:
    """A surface over (rows, columns, 3) points; outside is where rows x columns points."""
    rows, columns = points.shape[:2]
    corner = np.arange((rows - 1) * columns).reshape(rows - 1, columns)[:, :-1].ravel()
    a, b, c, d = corner, corner + columns, corner + columns + 1, corner + 1
    faces = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])
    return Mesh(points.reshape(-1, 3), faces)


def _turn(count: int = SIDES) -> NDArray[np.float64]:
    angle = np.linspace(0, 2 * np.pi, count + 1)
    return np.stack([np.cos(angle), np.sin(angle)], 1)


def revolve(profile: NDArray[np.float64]) -> Mesh:
    """Turn a profile of (radius, z) points, from bottom to top, about z."""
    circle = _turn()
    points = np.empty((len(circle), len(profile), 3))
    points[..., :2] = circle[:, None] * profile[None, :, :1]
    points[..., 2] = profile[:, 1]
    return grid(points)


def cylinder(radius: float, half: float) -> Mesh:
    """A closed cylinder about z."""
    bottom, side, top = (
        [(0.0, -half), (radius, -half)],
        [(radius, -half), (radius, half)],
        [(radius, half), (0.0, half)],
    )
    return join([revolve(np.array(profile)) for profile in (bottom, side, top)])


def capsule(radius: float, half: float) -> Mesh:
    """A cylinder about z with round ends."""
    arc = np.linspace(-np.pi / 2, np.pi / 2, SIDES // 2 + 1)
    z = radius * np.sin(arc) + np.where(arc < -1e-9, -half, half)
    return revolve(np.stack([radius * np.cos(arc), z], 1))


def ellipsoid(radii: NDArray[np.float64]) -> Mesh:
    """An ellipsoid with its axes along x, y, z."""
    arc = np.linspace(-np.pi / 2, np.pi / 2, SIDES // 2 + 1)
    ball = revolve(np.stack([np.cos(arc), np.sin(arc)], 1))
    return Mesh(ball.vertices * radii, ball.faces)


def box(half: NDArray[np.float64]) -> Mesh:
    """A box of six separate sides."""
    sides = []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for sign in (-1.0, 1.0):
            corners = np.zeros((2, 2, 3))
            corners[..., axis] = sign
            corners[0, :, u], corners[1, :, u] = -sign, sign
            corners[:, 0, v], corners[:, 1, v] = -1, 1
            sides.append(grid(corners * half))
    return join(sides)


def _model_mesh(model: mujoco.MjModel, number: int) -> Mesh:
    """A mesh of the model, every triangle with its own vertices."""
    first, count = model.mesh_vertadr[number], model.mesh_vertnum[number]
    start, faces = model.mesh_faceadr[number], model.mesh_facenum[number]
    corners = model.mesh_vert[first : first + count][model.mesh_face[start : start + faces]].reshape(-1, 3)
    return Mesh(corners.astype(np.float64), np.arange(len(corners)).reshape(-1, 3))


def _shape(model: mujoco.MjModel, geom: int) -> Mesh:
    kind, size = model.geom_type[geom], model.geom_size[geom]
    if kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
        return cylinder(size[0], size[1])
    if kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
        return capsule(size[0], size[1])
    if kind == mujoco.mjtGeom.mjGEOM_BOX:
        return box(size)
    if kind == mujoco.mjtGeom.mjGEOM_MESH:
        return _model_mesh(model, model.geom_dataid[geom])
    return ellipsoid(size)


def _geom(model: mujoco.MjModel, geom: int) -> Mesh:
    """A geom's triangles in its body's frame."""
    rotation = np.empty(9)
    mujoco.mju_quat2Mat(rotation, model.geom_quat[geom])
    mesh = _shape(model, geom)
    return Mesh(mesh.vertices @ rotation.reshape(3, 3).T + model.geom_pos[geom], mesh.faces)


@functools.cache
def parts() -> tuple[Part, ...]:
    """Everything there is to see of the arena except the floor, by body and material."""
    model = looks.visual_model()
    found: dict[tuple[str, str], list[Mesh]] = {}
    colours: dict[str, tuple[int, int, int]] = {}
    for geom in range(model.ngeom):
        if model.geom_group[geom] != LOOKS_GROUP or model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_PLANE:
            continue
        material = model.material(model.geom_matid[geom])
        red, green, blue = np.rint(255 * material.rgba[:3]).astype(int).tolist()
        colours[material.name] = (red, green, blue)
        body = model.body(model.geom_bodyid[geom]).name
        found.setdefault((body, material.name), []).append(_geom(model, geom))
    return tuple(Part(body, name, colours[name], join(meshes)) for (body, name), meshes in found.items())
