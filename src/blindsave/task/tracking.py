"""What the policy may see of the puck: blackouts and measurement errors, compiled to plain arrays.

A `Tracking` says, for each of the 126 observations of an episode, whether the puck is visible and by how much
its measured position is off. The environment only applies these arrays, so a new kind of tracking fault is a
new function here, and a field of `episode.Disturbance` that names and applies it in grids. Compose faults with
`compose`.
"""

import functools
import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blindsave.errors import BadInput
from blindsave.task.interface import PUCK_PER_MM as PER_MM
from blindsave.task.outcomes import TIMEOUT_STEPS

OBSERVATIONS = TIMEOUT_STEPS + 1
BLACKOUT_START = 5
NOISE_SEED_TEXT = "observation_noise_v1:19302026"


@dataclass(frozen=True, eq=False)
class Tracking:
    """The tracker's behaviour over one episode.

    `visible[t]` tells whether observation t shows the puck; `offset[t]` is added to its normalised x, y before
    clipping, where visible. No offset at all is `None`, so that a clean episode takes the exact clean path.
    """

    visible: NDArray[np.bool_]
    offset: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        visible = _frozen(self.visible, np.bool_)
        if visible.shape != (OBSERVATIONS,):
            raise BadInput(f"visible must have shape ({OBSERVATIONS},), got {visible.shape}")
        object.__setattr__(self, "visible", visible)
        if self.offset is None:
            return
        offset = _frozen(self.offset, np.float64)
        if offset.shape != (OBSERVATIONS, 2) or not np.isfinite(offset).all():
            raise BadInput(f"offset must be finite with shape ({OBSERVATIONS}, 2), got shape {offset.shape}")
        object.__setattr__(self, "offset", offset)


def _frozen(values: NDArray, dtype: type) -> NDArray:
    """Own, read-only copy: a Tracking is shared between episodes and threads."""
    copy = np.array(values, dtype)
    copy.setflags(write=False)
    return copy


def compose(*parts: Tracking) -> Tracking:
    """Several faults at once: hidden where any part hides, offsets add up."""
    visible = np.ones(OBSERVATIONS, np.bool_)
    offsets = [part.offset for part in parts if part.offset is not None]
    for part in parts:
        visible &= part.visible
    return Tracking(visible, functools.reduce(np.add, offsets) if offsets else None)


@functools.cache
def blackout(length: int, start: int = BLACKOUT_START) -> Tracking:
    """Hide observations [start, start + length); length 0 hides nothing."""
    return blackouts([(start, length)])


def blackouts(intervals: Iterable[tuple[int, int]]) -> Tracking:
    """Hide several intervals, each given as (start, length)."""
    visible = np.ones(OBSERVATIONS, np.bool_)
    for start, length in intervals:
        if start < 0 or length < 0 or start + length > OBSERVATIONS:
            raise BadInput(
                f"a blackout of {length} steps from observation {start} does not fit into observations"
                f" 0 to {OBSERVATIONS - 1}"
            )
        visible[start : start + length] = False
    return Tracking(visible)


CLEAR = blackout(0)
"""Perfect tracking."""


def noise_trace(unit_id: str, sigma_mm: float) -> Tracking:
    """White Gaussian error of `sigma_mm` per axis; the trace belongs to the unit, whatever the policy does."""
    return correlated_noise(unit_id, sigma_mm, correlation=0.0)


def correlated_noise(unit_id: str, sigma_mm: float, correlation: float) -> Tracking:
    """First-order autoregressive error with stationary `sigma_mm` and step-to-step `correlation`."""
    if not (math.isfinite(sigma_mm) and sigma_mm >= 0):
        raise BadInput(f"noise must be a number of millimetres, zero or more, got {sigma_mm}")
    if not 0 <= correlation < 1:
        raise BadInput(f"noise correlation must be in [0, 1), got {correlation}")
    if sigma_mm == 0:
        return CLEAR
    trace = standard_normals(unit_id)
    if correlation > 0:
        trace = trace.copy()
        for t in range(1, OBSERVATIONS):
            trace[t] = correlation * trace[t - 1] + math.sqrt(1 - correlation**2) * trace[t]
    return Tracking(CLEAR.visible, (sigma_mm * PER_MM) * trace)


def bias(x_mm: float, y_mm: float) -> Tracking:
    """A constant error, as of a badly calibrated camera."""
    if not (math.isfinite(x_mm) and math.isfinite(y_mm)):
        raise BadInput(f"a bias must be finite, got ({x_mm}, {y_mm}) mm")
    if x_mm == y_mm == 0:
        return CLEAR
    return Tracking(CLEAR.visible, np.tile(np.array([x_mm, y_mm]) * PER_MM, (OBSERVATIONS, 1)))


@functools.lru_cache(maxsize=2048)
def standard_normals(unit_id: str) -> NDArray[np.float64]:
    """Return the (126, 2) standard normals of a unit: an alias family id or a support shot id."""
    digest = hashlib.sha256(f"{NOISE_SEED_TEXT}:{unit_id}".encode()).digest()
    seed = int.from_bytes(digest[:16], "little")
    return _frozen(np.random.Generator(np.random.PCG64(seed)).standard_normal((OBSERVATIONS, 2)), np.float64)
