"""An episode in the making: what faults may change before it is fixed."""

import math
from dataclasses import dataclass
from dataclasses import field as kept
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindsave.task.episode import LOCKED_STEPS, Episode
from blindsave.task.shots import Shot
from blindsave.task.tracking import BLACKOUT_START, FIELD_TERMS, OBSERVATIONS, OWN, Tracking, blackout, generator

FAULT_SEED_TEXT = "tracker_fault_v1"


@dataclass(eq=False)
class Draft:
    """Arrays over the 126 observations of an episode, to be changed in place; `Tracking` says what they mean.

    Positions are normalised; `task.interface.PUCK_PER_MM` is one millimetre. `blackout` is the length of the main
    blackout, which starts at observation 5 and is already hidden. `rng(purpose)` is chance that belongs to the unit
    of the shot: every policy, and both members of an alias family, meet the same.
    """

    shot: Shot
    blackout: int = 0
    unit: str = ""
    visible: NDArray[np.bool_] = kept(init=False)
    reported: NDArray[np.bool_] = kept(init=False)
    source: NDArray[np.int_] = kept(default_factory=OWN.copy, init=False)
    offset: NDArray[np.float64] = kept(default_factory=lambda: np.zeros((OBSERVATIONS, 2)), init=False)
    place: NDArray[np.float64] = kept(default_factory=lambda: np.full((OBSERVATIONS, 2), math.nan), init=False)
    field: NDArray[np.float64] = kept(default_factory=lambda: np.zeros((2, FIELD_TERMS)), init=False)
    locked_steps: int = LOCKED_STEPS
    puck_drag: float = 1.0

    def __post_init__(self) -> None:
        self.unit = self.unit or self.shot.unit
        self.visible = blackout(self.blackout).visible.copy()
        self.reported = self.visible.copy()

    @property
    def blackout_end(self) -> int:
        """The first observation after the main blackout."""
        return BLACKOUT_START + self.blackout

    def rng(self, purpose: str) -> np.random.Generator:
        """A generator of the unit's own; each purpose has another."""
        return generator(f"{FAULT_SEED_TEXT}:{purpose}", self.unit)

    def hide(self, where: Any) -> None:
        """Show neither flag nor position in these observations (a mask, a slice or indices)."""
        self.visible[where] = self.reported[where] = False

    def report(self, moments: NDArray[np.int_]) -> None:
        """Let observation t say what observation `moments[t]` would have said: late or repeated messages."""
        for name in ("visible", "reported", "source", "offset", "place"):
            setattr(self, name, getattr(self, name)[moments])

    def episode(self) -> Episode:
        """The finished episode; what no fault has touched takes the clean path."""
        tracking = Tracking(
            self.visible,
            self.offset if self.offset.any() else None,
            None if np.array_equal(self.source, OWN) else self.source,
            None if np.array_equal(self.reported, self.visible) else self.reported,
            None if np.isnan(self.place).all() else self.place,
            self.field if self.field.any() else None,
        )
        return Episode(self.shot, tracking, self.locked_steps, self.puck_drag)
