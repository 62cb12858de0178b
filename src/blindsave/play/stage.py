"""One table in a visitor's scene: robot, puck, and the marks that tell what the policy sees, wants and believes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindsave.arena.constants import MALLET_RADIUS_M, PUCK_RADIUS_M
from blindsave.play import poses, shapes
from blindsave.play.game import Frame, Table

Colour = tuple[int, int, int]
SEEN: Colour = (255, 190, 0)
UNSEEN: Colour = (56, 189, 248)
WANTED: Colour = (34, 230, 90)
BELIEVED: Colour = (236, 72, 240)
SAVED: Colour = (34, 197, 94)
LOST: Colour = (239, 68, 68)
GHOST = 0.28
MARK_Z_M, DOT_Z_M = 0.0016, 0.008
SURFACE = "surface"
OWN_LIGHT = frozenset({"line", "line_red", "goal"})  # flat paint: casts no shadow


class Stage:
    """The scene nodes of one table; `show` moves them, `place` puts the whole table somewhere."""

    def __init__(self, scene: Any, root: str) -> None:
        self.scene, self.root = scene, root
        self.base = scene.add_frame(root, show_axes=False)
        self.puck: list[Any] = []
        self.surface: Any = None
        self._turning = self._build_bodies()
        self._build_parts()
        self._build_marks()
        self._hidden = False
        self._trail = -1

    def _build_bodies(self) -> list[tuple[poses.Body, Any]]:
        turning = []
        for body in poses.bodies():
            node = self.scene.add_frame(self.root + body.path, show_axes=False, position=body.position, wxyz=body.rest)
            if body.name == poses.PUCK:
                self.puck_frame = node
            elif body.hinges:
                turning.append((body, node))
        return turning

    def _build_parts(self) -> None:
        paths = {body.name: body.path for body in poses.bodies()}
        for number, part in enumerate(shapes.parts()):
            node = self._mesh(
                f"{paths.get(part.body, '')}/look_{number}", part.mesh, part.colour,
                cast_shadow=part.material not in OWN_LIGHT and part.body != "world",
            )  # fmt: skip
            if part.body == poses.PUCK:
                self.puck.append(node)
            elif part.material == SURFACE:
                self.surface = node

    def _mesh(self, path: str, mesh: shapes.Mesh, colour: Colour, **options: Any) -> Any:
        vertices, faces = mesh.vertices.astype(np.float32), mesh.faces.astype(np.uint32)
        return self.scene.add_mesh_simple(self.root + path, vertices, faces, color=colour, **options)

    def _build_marks(self) -> None:
        flat = {"cast_shadow": False, "receive_shadow": False, "visible": False}
        r, half = PUCK_RADIUS_M, 0.0012
        self.seen = self._mesh("/seen", shapes.ring(1.12 * r, 1.34 * r, half), SEEN, **flat)
        self.veil = self._mesh("/veil", shapes.ring(1.15 * r, 1.7 * r, half), UNSEEN, **flat)
        self.believed = self._mesh("/believed", shapes.cylinder(r, 0.006), BELIEVED, opacity=0.75, **flat)
        ring = shapes.ring(0.80 * MALLET_RADIUS_M, MALLET_RADIUS_M, half)
        self.wanted = self._mesh("/wanted", ring, WANTED, **flat)
        frame = shapes.box(np.array([0.045, 0.125, 0.02]))
        self.light = self._mesh("/light", frame, SAVED, opacity=0.8, position=(-1.02, 0.0, 0.02), **flat)
        self.aim = self.scene.add_arrows(
            f"{self.root}/aim", np.zeros((1, 2, 3), np.float32), SEEN,
            shaft_radius=0.006, head_radius=0.02, head_length=0.05, visible=False,
        )  # fmt: skip
        self.trail = self.scene.add_point_cloud(
            f"{self.root}/trail", np.zeros((1, 3), np.float32), SEEN, point_size=0.009, point_shape="circle",
            point_shading="flat", precision="float32", visible=False,
        )  # fmt: skip
        label = {"visible": False, "depth_test": False, "anchor": "bottom-center"}
        self.lost = self.scene.add_label(f"{self.root}/lost", "hidden", font_screen_scale=1.1, **label)
        self.name = self.scene.add_label(
            f"{self.root}/name", "", font_screen_scale=1.25, position=(0.80, 0.0, 0.02), **label
        )
        self.banner = self.scene.add_label(
            f"{self.root}/banner", "", font_screen_scale=1.9, position=(-0.98, 0.0, 0.16), **label
        )

    def place(self, y_m: float, visible: bool) -> None:
        """Put the table somewhere in the hall, or take it away."""
        self.base.position = (0.0, y_m, 0.0)
        self.base.visible = visible

    def set_title(self, title: str) -> None:
        """Write the policy's name over the table."""
        self.name.text, self.name.visible = title, bool(title)

    def show(self, table: Table, moment: float, banner: str, colour: Colour) -> None:
        """Draw a moment of a table's episode."""
        frame = table.at(moment)
        self.pose(frame.qpos)
        self._mark(frame)
        self._draw_trail(table, int(moment))
        self.aim.visible = False
        self._announce(banner, colour)

    def _announce(self, banner: str, colour: Colour) -> None:
        """Say how it ended, over a goal that lights up; an empty text says nothing."""
        if banner != self.banner.text:
            self.banner.text, self.banner.visible = banner, bool(banner)
            self.light.color, self.light.visible = colour, bool(banner)

    def pose(self, qpos: NDArray[np.float64]) -> None:
        """Move arm and puck."""
        for body, node in self._turning:
            node.wxyz = poses.turned(body, qpos)
        self.puck_frame.position = (float(qpos[9]), float(qpos[10]), 0.0)

    def _mark(self, frame: Frame) -> None:
        x, y = frame.puck.tolist()
        _put(self.seen, frame.seen)
        _put(self.wanted, frame.target)
        _put(self.believed, None if frame.visible else frame.believed, 0.008)
        _put(self.veil, None if frame.visible else frame.puck)
        if frame.visible == self._hidden:
            self._hidden = not frame.visible
            for node in self.puck:
                node.opacity = GHOST if self._hidden else None
            self.lost.visible = self._hidden
        if self._hidden:
            self.lost.position = (x, y, 0.06)

    def _draw_trail(self, table: Table, until: int) -> None:
        """One dot per observation so far, coloured by whether the policy saw it; redrawn every third step."""
        until = min(until, table.last)
        if until == self._trail or (until > self._trail >= 0 and until % 3 and until != table.last):
            return
        self._trail = until
        frames = table.frames[: until + 1]
        points = np.full((len(frames), 3), DOT_Z_M, np.float32)
        points[:, :2] = [frame.puck for frame in frames]
        self.trail.points = points
        self.trail.colors = np.array([SEEN if frame.visible else UNSEEN for frame in frames], np.uint8)
        self.trail.visible = True

    def show_aim(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Draw the arrow of a shot that is being aimed."""
        self.aim.points = np.array([[[*start, 0.02], [*end, 0.02]]], np.float32)
        self.aim.visible = True


def _put(mark: Any, place: NDArray[np.float64] | None, z_m: float = MARK_Z_M) -> None:
    """Move a mark to its place on the table, or hide it."""
    if place is not None:
        mark.position = (float(place[0]), float(place[1]), z_m)
    if mark.visible != (place is not None):
        mark.visible = place is not None
