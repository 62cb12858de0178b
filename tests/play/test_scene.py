import gzip
import json
import struct

import numpy as np

from blindsave.play import poses, scene, shapes


def unpacked():
    blob = gzip.decompress(scene.packed())
    (size,) = struct.unpack("<I", blob[:4])
    about = json.loads(blob[4 : 4 + size])
    at, vertices, indices = 4 + size, about["vertices"], about["indices"]
    positions = np.frombuffer(blob, "<f4", 3 * vertices, at).reshape(-1, 3)
    normals = np.frombuffer(blob, "i1", 4 * vertices, at + 12 * vertices).reshape(-1, 4)
    triangles = np.frombuffer(blob, "<u2", indices, at + 16 * vertices)
    assert at % 4 == 0 and len(blob) == at + 16 * vertices + 2 * indices
    return about, positions, normals, triangles


def test_every_part_comes_out_as_it_went_in():
    about, positions, _, triangles = unpacked()
    assert len(about["parts"]) == len(shapes.parts())
    for told, part in zip(about["parts"], shapes.parts(), strict=True):
        chosen = triangles[told["first"] : told["first"] + told["count"]]
        expected = part.mesh.vertices[part.mesh.faces].reshape(-1, 3)
        np.testing.assert_allclose(positions[chosen], expected, atol=1e-6)
        assert told["body"] == part.body and told["material"] == part.material


def test_normals_have_unit_length_and_point_outwards():
    ball = shapes.ellipsoid(np.array([1.0, 1.0, 1.0]))
    assert ((scene.normals(ball) * ball.vertices).sum(1) > 0.98).mean() > 0.99  # all but a pole's seam
    _, _, normals, _ = unpacked()
    lengths = np.linalg.norm(normals[:, :3].astype(float), axis=1)
    assert (np.abs(lengths - 127) < 2).mean() > 0.99


def test_bodies_come_after_their_parents():
    about, *_ = unpacked()
    known = {"", "world"}
    for body in about["bodies"]:
        assert body["parent"] in known
        known.add(body["name"])
    assert {part["body"] for part in about["parts"]} <= known and len(about["bodies"]) == len(poses.bodies())


def test_the_page_gets_always_the_same_bytes():
    first = scene.packed()
    scene.packed.cache_clear()
    assert scene.packed() == first
