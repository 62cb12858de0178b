"""The arena as a browser wants it: triangles by body and material, and the tree of joints that moves them.

`packed` is one blob: the length of a JSON text (uint32), the text, then for all parts together positions (float32 x 3),
normals (int8 x 4) and triangles (uint16 x 3), little-endian. The text says which stretch of them is which part.
"""

import functools
import gzip
import json
import struct

import numpy as np
from numpy.typing import NDArray

from blindsave.arena.constants import GOAL_WIDTH_M, MALLET_RADIUS_M, PUCK_RADIUS_M
from blindsave.draw import looks
from blindsave.play import poses, shapes

FLAT = frozenset({"line", "line_red", "goal"})
"""Paint on the table: takes no shade."""


def normals(mesh: shapes.Mesh) -> NDArray[np.float64]:
    """Directions of the surface at the vertices: the mean of the triangles around, larger ones count more."""
    corners = mesh.vertices[mesh.faces]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    total = np.zeros_like(mesh.vertices)
    for corner in range(3):
        np.add.at(total, mesh.faces[:, corner], across)
    return total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-12)


@functools.cache
def packed() -> bytes:
    """Everything there is to draw, compressed with gzip; always the same bytes."""
    positions, directions, triangles, parts = [], [], [], []
    vertices = faces = 0
    shininess = {model.name: model for model in map(looks.visual_model().material, range(looks.visual_model().nmat))}
    for part in shapes.parts():
        mesh, material = part.mesh, shininess[part.material]
        positions.append(mesh.vertices.astype("<f4"))
        directions.append(np.pad(np.rint(127 * normals(mesh)), ((0, 0), (0, 1))).astype("i1"))
        triangles.append((mesh.faces + vertices).astype("<u2"))
        parts.append(
            {
                "body": part.body,
                "material": part.material,
                "colour": [round(value / 255, 4) for value in part.colour],
                "shine": round(float(material.specular[0]), 3),
                "flat": part.material in FLAT,
                "first": 3 * faces,
                "count": 3 * len(mesh.faces),
            }
        )
        vertices, faces = vertices + len(mesh.vertices), faces + len(mesh.faces)
    if vertices > np.iinfo(np.uint16).max:
        raise ValueError(f"{vertices} vertices are too many for the page")
    about = {"vertices": vertices, "indices": 3 * faces, "parts": parts, "bodies": _bodies(), "sizes": _sizes()}
    text = json.dumps(about, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)  # numbers begin at multiples of four
    blocks = [np.concatenate(block).tobytes() for block in (positions, directions, triangles)]
    return gzip.compress(b"".join([struct.pack("<I", len(text)), text, *blocks]), mtime=0)


def _bodies() -> list[dict]:
    return [
        {
            "name": body.name,
            "parent": body.path.rpartition("/")[0].rpartition("/")[2],
            "at": body.position,
            "rest": body.rest,
            "hinges": body.hinges,
        }
        for body in poses.bodies()
    ]


def _sizes() -> dict[str, float]:
    return {
        "half_x": looks.HALF_X_M,
        "half_y": looks.HALF_Y_M,
        "rim": looks.RIM_M,
        "goal": GOAL_WIDTH_M / 2,
        "puck": PUCK_RADIUS_M,
        "mallet": MALLET_RADIUS_M,
    }
