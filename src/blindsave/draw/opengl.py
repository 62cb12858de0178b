"""Off-screen OpenGL where there is any: find a library that works, draw the visual scene with it, never crash without.

MuJoCo fixes its own choice (`MUJOCO_GL`) when it is first imported, long before anyone asks for a picture. So contexts
are made here directly, and libraries are tried with ctypes first: once PyOpenGL has loaded a platform it keeps it.
"""

import atexit
import copy
import ctypes
import os
import platform
import threading
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import mujoco
import numpy as np

from blindsave.draw import cameras, looks
from blindsave.draw.canvas import HIDDEN, Colour
from blindsave.errors import BadInput

MAX_EXTRA_GEOMS = 2000
_lock = threading.Lock()


class Mark(NamedTuple):
    """Something painted flat onto the table that is not part of the scene."""

    at: tuple[float, float]
    radius: float
    colour: Colour
    alpha: float
    height: float = 0.0012


@cache
def backend() -> str | None:
    """Name the way to draw off screen: "egl", "osmesa", "system" (macOS, Windows), or None without OpenGL."""
    wish = os.environ.get("MUJOCO_GL", "").lower().strip()
    if wish in ("disable", "disabled", "off", "false", "0"):
        return None
    if platform.system() != "Linux":
        return "system"
    taken = os.environ.get("PYOPENGL_PLATFORM", "").lower()
    for name, works in (("egl", _egl_works), ("osmesa", _osmesa_works)):
        allowed = wish in (name, "", "glfw", "glx", "enable", "enabled", "on", "true", "1")
        if allowed and taken in ("", name) and works():
            return name
    return None


def _egl_works() -> bool:
    """Ask libEGL for a display on any device, as MuJoCo's own context will."""
    try:
        egl = ctypes.CDLL("libEGL.so.1")
        egl.eglGetProcAddress.restype = ctypes.c_void_p
        query = egl.eglGetProcAddress(b"eglQueryDevicesEXT")
        display_of = egl.eglGetProcAddress(b"eglGetPlatformDisplayEXT")
        if not query or not display_of:
            return False
        pointer, devices, count = ctypes.c_void_p, (ctypes.c_void_p * 16)(), ctypes.c_int(0)
        ask = ctypes.CFUNCTYPE(ctypes.c_uint, ctypes.c_int, pointer, pointer)(query)
        ask(16, ctypes.cast(devices, pointer), ctypes.cast(ctypes.pointer(count), pointer))
        get = ctypes.CFUNCTYPE(pointer, ctypes.c_uint, pointer, pointer)(display_of)
        egl.eglInitialize.argtypes = [pointer, pointer, pointer]
        displays = [get(0x313F, devices[i], None) for i in range(count.value)]  # EGL_PLATFORM_DEVICE_EXT
        return any(d and egl.eglInitialize(d, None, None) for d in displays)
    except (OSError, AttributeError):
        return False


def _osmesa_works() -> bool:
    for name in ("libOSMesa.so.8", "libOSMesa.so.6", "libOSMesa.so"):
        try:
            ctypes.CDLL(name)
        except OSError:
            continue
        return True
    return False


def _context(width: int, height: int):
    name = backend()
    if name == "egl":
        from mujoco.egl import GLContext
    elif name == "osmesa":
        from mujoco.osmesa import GLContext
    else:
        from mujoco.gl_context import GLContext
    return GLContext(width, height)


class Stage:
    """One off-screen picture size: an OpenGL context with the visual scene loaded."""

    def __init__(self, width: int, height: int, fine: bool = False) -> None:
        self.width, self.height = width, height
        self.model = looks.dress(copy.copy(looks.visual_model()), width, height, fine)
        cameras.place(self.model, width, height)
        self.data = mujoco.MjData(self.model)
        self._gl = _context(width, height)
        self._gl.make_current()
        self._scene = mujoco.MjvScene(self.model, self.model.ngeom + MAX_EXTRA_GEOMS)
        self._scene.flags[mujoco.mjtRndFlag.mjRND_HAZE] = 1
        for costly in (mujoco.mjtRndFlag.mjRND_REFLECTION, mujoco.mjtRndFlag.mjRND_SHADOW):
            self._scene.flags[costly] = fine  # each draws everything once more
        self._context = mujoco.MjrContext(self.model, mujoco.mjtFontScale.mjFONTSCALE_150)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)
        self._options = mujoco.MjvOption()
        self._options.geomgroup[0] = 0  # the physical geoms; their looks are drawn in their place
        body = self.model.body("puck").id
        self._puck = set(np.flatnonzero(self.model.geom_bodyid == body).tolist())

    def draw(self, qpos: np.ndarray, camera: str, marks: Sequence[Mark] = (), ghost: bool = False) -> np.ndarray:
        """Draw one configuration; with `ghost` the puck is translucent."""
        known = [self.model.camera(i).name for i in range(self.model.ncam)]
        if camera not in known:
            raise BadInput(f"there is no camera '{camera}'; cameras: {', '.join(known)}")
        view = mujoco.MjvCamera()
        view.type, view.fixedcamid = mujoco.mjtCamera.mjCAMERA_FIXED, self.model.camera(camera).id
        self.data.qpos[:] = qpos
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_camlight(self.model, self.data)
        everything = mujoco.mjtCatBit.mjCAT_ALL
        mujoco.mjv_updateScene(self.model, self.data, self._options, None, view, everything, self._scene)
        if ghost:
            self._make_puck_translucent()
        for mark in marks[-MAX_EXTRA_GEOMS:]:
            self._add(mark)
        image, area = np.empty((self.height, self.width, 3), np.uint8), mujoco.MjrRect(0, 0, self.width, self.height)
        self._gl.make_current()
        mujoco.mjr_render(area, self._scene, self._context)
        mujoco.mjr_readPixels(image, None, area, self._context)
        return image[::-1].copy()

    def _make_puck_translucent(self) -> None:
        for geom in self._scene.geoms[: self._scene.ngeom]:
            if geom.objtype == mujoco.mjtObj.mjOBJ_GEOM and geom.objid in self._puck:
                geom.rgba[:] = (*HIDDEN, 0.5)
                geom.transparent = 1

    def _add(self, mark: Mark) -> None:
        geom = self._scene.geoms[self._scene.ngeom]
        size, place = np.array([mark.radius, 0.0002, 0.0]), np.array([*mark.at, mark.height])
        rgba = np.array([*mark.colour, mark.alpha], np.float32)
        mujoco.mjv_initGeom(geom, mujoco.mjtGeom.mjGEOM_CYLINDER, size, place, np.eye(3).ravel(), rgba)
        geom.emission, geom.category = 0.5, mujoco.mjtCatBit.mjCAT_DECOR
        self._scene.ngeom += 1

    def close(self) -> None:
        """Free the context while OpenGL is still there to free it."""
        self._gl.make_current()
        self._context.free()
        self._gl.free()


_stages: dict[tuple[int, int, bool], Stage] = {}


def available() -> bool:
    """Say whether 3-D pictures can be drawn here; the first call tries it."""
    if backend() is None:
        return False
    return _first_picture()


@cache
def _first_picture() -> bool:
    try:
        stage(64, 48)
    except Exception:  # whatever a driver may raise: without it there is still the drawing from above
        return False
    return True


def stage(width: int, height: int, fine: bool = False) -> Stage:
    """Return the stage of a size and quality; a few are kept."""
    with _lock:
        key = (width, height, fine)
        if key not in _stages:
            if len(_stages) >= 4:
                _stages.pop(next(iter(_stages))).close()
            _stages[key] = Stage(*key)
            atexit.register(_close_all)  # after the context's own handler was registered, so it runs before it
        return _stages[key]


def _close_all() -> None:
    while _stages:
        _stages.popitem()[1].close()
