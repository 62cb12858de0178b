"""Watch an environment live in MuJoCo's own viewer; where there is no screen, say so once and carry on."""

import os
import sys
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindsave.arena.constants import CONTROL_DT_S


def screen_available() -> bool:
    """Whether a window can be opened here."""
    if sys.platform.startswith("linux"):
        return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    # On macOS a passive viewer works only under the mjpython launcher.
    return sys.platform != "darwin" or "MJPYTHON_BIN" in os.environ


class Window:
    """A live view of one configuration, paced at the control rate."""

    def __init__(self) -> None:
        self._viewer: Any = None
        if not screen_available():
            print("blindsave: no screen here, so render_mode='human' shows nothing", file=sys.stderr)
            return
        import mujoco
        import mujoco.viewer

        from blindsave.draw import looks

        self._model, self._mujoco = looks.visual_model(), mujoco
        self._data = mujoco.MjData(self._model)
        self._viewer = mujoco.viewer.launch_passive(self._model, self._data, show_left_ui=False, show_right_ui=False)
        self._due = time.monotonic()

    def show(self, qpos: NDArray[np.float64]) -> None:
        """Draw a configuration, no faster than real time."""
        if self._viewer is None or not self._viewer.is_running():
            return
        with self._viewer.lock():
            self._data.qpos[:] = qpos
            self._mujoco.mj_forward(self._model, self._data)
        self._viewer.sync()
        self._due = max(self._due + CONTROL_DT_S, time.monotonic())
        time.sleep(max(0.0, self._due - time.monotonic()))

    def close(self) -> None:
        """Close the viewer."""
        if self._viewer is not None:
            self._viewer.close()
            self._viewer = None
