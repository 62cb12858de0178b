"""The arena for Python: a batch of tables, one control step at a time, on the compiled core or on the reference."""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blindsave.arena import native
from blindsave.errors import BadInput

Backend = Literal["auto", "native", "reference"]


def choose_backend(backend: Backend) -> str:
    """Turn `auto` into what this machine has; insist on what was asked for."""
    if backend not in ("auto", "native", "reference"):
        raise BadInput(f"backend must be auto, native or reference, got {backend!r}")
    if backend == "auto":
        return "native" if native.available() else "reference"
    if backend == "native" and not native.available():
        raise BadInput("the compiled core was asked for but is not installed; reinstall with a C compiler present")
    return backend


class Arena:
    """n independent tables with robot and puck; no shots, no blackouts, no outcomes.

    After `reset` or `step`, the arrays below hold the state of every environment: `policy_obs` (n, 20), `obs_raw`
    (n, 20), `puck_pos`, `puck_vel`, `mallet_pos` (n, 3), `u_pos` (n, 2), `cmd_pos`, `cmd_vel` (n, 7), `qpos`, `qvel`
    (n, 12), and the flags `contact`, `absorbing`, `fault` (n,). They are views that the next call overwrites.
    One Arena must not be used from two Python threads at once; it runs on `threads` threads of its own.
    """

    policy_obs: NDArray[np.float64]
    obs_raw: NDArray[np.float64]
    puck_pos: NDArray[np.float64]
    puck_vel: NDArray[np.float64]
    mallet_pos: NDArray[np.float64]
    u_pos: NDArray[np.float64]
    cmd_pos: NDArray[np.float64]
    cmd_vel: NDArray[np.float64]
    qpos: NDArray[np.float64]
    qvel: NDArray[np.float64]
    contact: NDArray[np.bool_]
    absorbing: NDArray[np.bool_]
    fault: NDArray[np.bool_]
    _core: Any

    def __init__(self, n: int, *, threads: int | None = None, backend: Backend = "auto") -> None:
        if n < 1:
            raise BadInput(f"an arena needs at least one environment, got {n}")
        self.n, self.threads, self.backend = n, native.threads_or_default(threads), choose_backend(backend)
        if self.backend == "native":
            self._rows = np.zeros(n, native.ROW)
            self._core = native.make_core(n, self.threads, self._rows)
            for name in native.ROW.names or ():
                setattr(self, name, self._rows[name])
        else:
            from blindsave.arena.reference import ReferenceArena

            self._core = ReferenceArena(n)
            for name in (native.ROW.names or ())[:-1]:
                setattr(self, name, getattr(self._core, name))

    def reset(self, launches: ArrayLike, ids: ArrayLike | None = None) -> None:
        """Start environments anew: arm at home, puck at (x, y, yaw, vx, vy, yaw rate) in the table frame."""
        chosen = native.as_ids(ids, self.n)
        self._core.reset(native.as_launches(launches, self.n if chosen is None else len(chosen)), chosen)

    def step(self, actions: ArrayLike, ids: ArrayLike | None = None) -> None:
        """Run one control step (20 ms) towards the normalised mallet targets."""
        chosen = native.as_ids(ids, self.n)
        self._core.step(native.as_actions(actions, self.n if chosen is None else len(chosen)), chosen)

    def snapshot(self, index: int) -> bytes:
        """Return everything environment `index` is; `restore` continues from it bit-identically."""
        return self._core.snapshot(index)

    def restore(self, index: int, snapshot: bytes) -> None:
        """Put a snapshot into environment `index`, which need not be the one it came from."""
        self._core.restore(index, snapshot)
