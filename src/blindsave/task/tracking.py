"""What the policy is told of the puck: when, how late and how wrong, as plain arrays over one episode.

The environment only applies these arrays (in C: `track` in core/defend.c), so a new kind of tracker fault is one
function that fills them (`conditions.fault`), and nothing else.
"""

import functools
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindsave.errors import BadInput
from blindsave.task.outcomes import TIMEOUT_STEPS

OBSERVATIONS = TIMEOUT_STEPS + 1
BLACKOUT_START = 5
NOISE_SEED_TEXT = "observation_noise_v1:19302026"
FIELD_TERMS = 10

# Mirrors bs_conditions in core/defend.h.
RECORD = np.dtype(
    [
        ("drag", "f8"),
        ("offset", "f8", (OBSERVATIONS, 2)),
        ("place", "f8", (OBSERVATIONS, 2)),
        ("field", "f8", (2, FIELD_TERMS)),
        ("locked_steps", "i4"),
        ("source", "i2", OBSERVATIONS),
        ("visible", "?", OBSERVATIONS),
        ("reported", "?", OBSERVATIONS),
        ("replaced", "?", OBSERVATIONS),
        ("has_offset", "?"),
        ("has_field", "?"),
    ],
    align=True,
)
OWN = np.arange(OBSERVATIONS)
"""Every observation reports its own moment."""
OWN.setflags(write=False)


@dataclass(frozen=True, eq=False)
class Tracking:
    """The tracker's behaviour over one episode; positions and errors in units of the normalised puck position.

    `visible[t]` is the flag of observation t. Where `reported` (by default where visible), it comes with a position:
    that of observation `source[t]`, off by the polynomial `field` there and by `offset[t]`; or `place[t]`, wherever
    the puck is, unless that is NaN. Whatever is None does not happen, so that a clean episode takes the clean path.
    """

    visible: NDArray[np.bool_]
    offset: NDArray[np.float64] | None = None
    source: NDArray[np.int_] | None = None
    reported: NDArray[np.bool_] | None = None
    place: NDArray[np.float64] | None = None
    field: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        self._freeze("visible", np.bool_, (OBSERVATIONS,))
        self._freeze("offset", np.float64, (OBSERVATIONS, 2))
        self._freeze("source", np.int16, (OBSERVATIONS,))
        self._freeze("reported", np.bool_, (OBSERVATIONS,))
        self._freeze("place", np.float64, (OBSERVATIONS, 2), nan=True)
        self._freeze("field", np.float64, (2, FIELD_TERMS))
        if self.source is not None and ((self.source < 0) | (self.source > OWN)).any():
            raise BadInput("a tracker can report the present or the past only: source[t] must be between 0 and t")

    def _freeze(self, name: str, dtype: type, shape: tuple[int, ...], *, nan: bool = False) -> None:
        """Keep an own, read-only copy: a Tracking is shared between episodes and threads."""
        given = getattr(self, name)
        if given is None:
            return
        copy = np.array(given, dtype)
        if copy.shape != shape or not (nan or np.isfinite(copy).all()):
            raise BadInput(f"{name} must be finite with shape {shape}, got shape {copy.shape}")
        copy.setflags(write=False)
        object.__setattr__(self, name, copy)

    @functools.cached_property
    def record(self) -> NDArray[Any]:
        """The arrays as the compiled core reads them; drag and lock are the episode's."""
        record = np.zeros((), RECORD)
        record["visible"] = self.visible
        record["reported"] = self.visible if self.reported is None else self.reported
        record["source"] = OWN if self.source is None else self.source
        for name in ("offset", "field"):
            values = getattr(self, name)
            if values is not None:
                record[name], record[f"has_{name}"] = values, True
        if self.place is not None:
            record["replaced"] = ~np.isnan(self.place).any(axis=1)
            record["place"] = np.nan_to_num(self.place)
        return record


def field_error(field: NDArray[np.float64], x: float, y: float) -> tuple[float, float]:
    """The error of a field at a place, term by term as in C."""
    xx, xy, yy = x * x, x * y, y * y
    terms = (x, y, xx, xy, yy, xx * x, xx * y, x * yy, yy * y)
    found = []
    for first, *rest in field.tolist():
        for coefficient, term in zip(rest, terms, strict=True):
            first = first + coefficient * term
        found.append(first)
    return found[0], found[1]


@functools.cache
def blackout(length: int, start: int = BLACKOUT_START) -> Tracking:
    """Hide observations [start, start + length); length 0 hides nothing."""
    return Tracking(hidden([(start, length)]))


def hidden(intervals: Iterable[tuple[int, int]]) -> NDArray[np.bool_]:
    """Where the puck is visible, with several intervals hidden, each given as (start, length)."""
    visible = np.ones(OBSERVATIONS, np.bool_)
    for start, length in intervals:
        if start < 0 or length < 0 or start + length > OBSERVATIONS:
            raise BadInput(
                f"a blackout of {length} steps from observation {start} does not fit into observations"
                f" 0 to {OBSERVATIONS - 1}"
            )
        visible[start : start + length] = False
    return visible


CLEAR = blackout(0)
"""Perfect tracking."""


@functools.lru_cache(maxsize=2048)
def standard_normals(unit_id: str) -> NDArray[np.float64]:
    """Return the (126, 2) standard normals of a unit: an alias family id or a support shot id."""
    normals = generator(NOISE_SEED_TEXT, unit_id).standard_normal((OBSERVATIONS, 2))
    normals.setflags(write=False)
    return normals


def generator(purpose: str, unit_id: str) -> np.random.Generator:
    """Chance that belongs to a unit and a purpose, whatever the policy does."""
    digest = hashlib.sha256(f"{purpose}:{unit_id}".encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "little")))
