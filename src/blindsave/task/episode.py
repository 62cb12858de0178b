"""One episode, fully specified: which shot, what is seen of it, and what else is different this time."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from blindsave.errors import BadInput
from blindsave.task.outcomes import TIMEOUT_STEPS
from blindsave.task.shots import Shot
from blindsave.task.tracking import (
    CLEAR,
    Tracking,
    bias,
    blackout,
    blackouts,
    compose,
    correlated_noise,
)

LOCKED_STEPS = 5


@dataclass(frozen=True, eq=False)
class Episode:
    """Everything that decides an episode besides the policy.

    During the first `locked_steps` control steps the mallet holds its place whatever the policy says.
    `puck_drag` scales the puck's drag on the table; 1 is the arena as built.
    """

    shot: Shot
    tracking: Tracking = CLEAR
    locked_steps: int = LOCKED_STEPS
    puck_drag: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.locked_steps <= TIMEOUT_STEPS:
            raise BadInput(f"locked_steps must be between 0 and {TIMEOUT_STEPS}, got {self.locked_steps}")
        if not (math.isfinite(self.puck_drag) and self.puck_drag >= 0):
            raise BadInput(f"puck_drag must be a finite factor, zero or more, got {self.puck_drag}")


@dataclass(frozen=True)
class Disturbance:
    """What goes wrong besides the blackout; the default is nothing.

    A disturbance knows no shot: `episode` applies it to one, always in the same way.
    """

    noise_mm: float = 0.0
    """Standard deviation of the tracked puck position, per axis."""
    correlation: float = 0.0
    """Step-to-step correlation of that noise."""
    bias_mm: tuple[float, float] = (0.0, 0.0)
    """Constant error of the tracked position."""
    extra_blackouts: tuple[tuple[int, int], ...] = field(default=())
    """Further hidden intervals as (first observation, length)."""
    puck_drag: float = 1.0
    """Factor on the puck's drag."""

    @property
    def name(self) -> str:
        """Short name in tables: `clean`, `noise_5mm`, `noise_5mm_correlation_0.9`, `puck_drag_1.5`..."""
        parts = []
        if self.noise_mm:
            parts.append(f"noise_{self.noise_mm:g}mm")
        if self.noise_mm and self.correlation:
            parts.append(f"correlation_{self.correlation:g}")
        if any(self.bias_mm):
            parts.append(f"bias_{self.bias_mm[0]:g}_{self.bias_mm[1]:g}mm")
        parts.extend(f"hidden_{start}_{start + length}" for start, length in self.extra_blackouts)
        if self.puck_drag != 1.0:
            parts.append(f"puck_drag_{self.puck_drag:g}")
        return "_".join(parts) or "clean"

    def episode(self, shot: Shot, blackout_steps: int, locked_steps: int = LOCKED_STEPS) -> Episode:
        """Return the episode of this shot under this disturbance with one main blackout."""
        tracking = blackout(blackout_steps)
        if self != UNDISTURBED:
            tracking = compose(
                tracking,
                blackouts(self.extra_blackouts),
                correlated_noise(shot.unit, self.noise_mm, self.correlation),
                bias(*self.bias_mm),
            )
        return Episode(shot, tracking, locked_steps, self.puck_drag)


UNDISTURBED = Disturbance()
"""Nothing goes wrong but the blackout."""


def grid(
    shots: Sequence[Shot], blackout_lengths: Sequence[int], disturbance: Disturbance = UNDISTURBED
) -> list[Episode]:
    """Every shot with every blackout length, shot by shot."""
    return [disturbance.episode(shot, length) for shot in shots for length in blackout_lengths]
