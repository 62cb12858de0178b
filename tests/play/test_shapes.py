import numpy as np
import pytest

from blindsave.draw import looks
from blindsave.play import shapes


def volume(mesh):
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    return float(np.sum(np.cross(a, b) * c) / 6)


R, H = 0.3, 0.5


SOLIDS = {
    "cylinder": (shapes.cylinder(R, H), 2 * np.pi * R**2 * H),
    "capsule": (shapes.capsule(R, H), 2 * np.pi * R**2 * H + 4 / 3 * np.pi * R**3),
    "ellipsoid": (shapes.ellipsoid(np.array([0.2, 0.3, 0.4])), 4 / 3 * np.pi * 0.2 * 0.3 * 0.4),
    "box": (shapes.box(np.array([0.2, 0.3, 0.4])), 8 * 0.2 * 0.3 * 0.4),
}


@pytest.mark.parametrize("name", SOLIDS)
def test_solids_are_closed_and_face_outwards(name):
    mesh, expected = SOLIDS[name]
    # Many-sided, so a little smaller than the round solid; inside out it would be negative.
    assert 0.97 * expected < volume(mesh) <= expected * (1 + 1e-9)
    assert mesh.faces.min() == 0 and mesh.faces.max() == len(mesh.vertices) - 1


def test_every_visible_geom_but_the_floor_is_drawn():
    model = looks.visual_model()
    drawn = {part.body for part in shapes.parts()}
    expected = {model.body(model.geom_bodyid[g]).name for g in range(model.ngeom) if model.geom_group[g] == 1}
    assert drawn == expected
    assert all(np.isfinite(part.mesh.vertices).all() for part in shapes.parts())
    low, high = np.array([p.mesh.vertices.min(0) for p in shapes.parts() if p.body == "world"]).min(0), 0.2
    assert low[2] > -0.79 and max(p.mesh.vertices[:, 2].max() for p in shapes.parts() if p.body == "world") < high
