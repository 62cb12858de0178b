"""What happened in one episode, in a form that any picture can be drawn from without policy, shot or simulator."""

from dataclasses import dataclass
from functools import cached_property

import mujoco
import numpy as np
from numpy.typing import NDArray

from blindsave.arena import scene
from blindsave.arena.constants import CONTROL_DT_S
from blindsave.errors import BadInput

PUCK = slice(9, 11)


@dataclass(frozen=True, eq=False)
class Recording:
    """One episode, row t = observation t; positions in the table frame, metres."""

    qpos: NDArray[np.float64]
    """Configuration (T, 12): seven arm joints, two of the mallet, puck x, y, yaw."""
    visible: NDArray[np.bool_]
    """Whether the policy was shown the puck, (T,)."""
    seen: NDArray[np.float64]
    """Where the policy was told the puck is, (T, 2): noisy where there is noise, NaN while hidden."""
    target: NDArray[np.float64] | None = None
    """Where the policy wanted the mallet, (T, 2); None where unknown."""
    believed: NDArray[np.float64] | None = None
    """Where a memory imagines the hidden puck, (T, 2), NaN where it says nothing; None where nobody was asked."""
    locked_steps: int = 5
    """Control steps at the start in which the arm ignores the policy."""
    title: str = ""
    outcome: str = ""
    """Label of the outcome, empty if none."""
    saved: bool | None = None
    first_contact: int = -1
    """Step at which the mallet first met the puck, -1 if never."""

    def __post_init__(self) -> None:
        steps = len(self.qpos)
        if self.qpos.shape != (steps, 12) or steps < 1 or not np.isfinite(self.qpos).all():
            raise BadInput(f"a recording needs finite qpos of shape (T, 12), got {self.qpos.shape}")
        if self.visible.shape != (steps,) or self.seen.shape != (steps, 2):
            raise BadInput("a recording's visible and seen must have one row per configuration")
        if self.target is not None and self.target.shape != (steps, 2):
            raise BadInput("a recording's target must have one row per configuration")
        if self.believed is not None and self.believed.shape != (steps, 2):
            raise BadInput("a recording's beliefs must have one row per configuration")

    def __len__(self) -> int:
        return len(self.qpos)

    @property
    def puck(self) -> NDArray[np.float64]:
        """True puck positions, (T, 2)."""
        return self.qpos[:, PUCK]

    @property
    def shown(self) -> NDArray[np.float64]:
        """Where a picture puts the dots of the path, (T, 2): as seen by the policy, true where it saw nothing."""
        return np.where(self.visible[:, None], self.seen, self.puck)

    def beliefs(self, until: int) -> NDArray[np.float64]:
        """Imagined positions up to and including a step, (k, 2), without the gaps."""
        if self.believed is None:
            return np.zeros((0, 2))
        points = self.believed[: until + 1]
        return points[np.isfinite(points).all(1)]

    @cached_property
    def mallet(self) -> NDArray[np.float64]:
        """Mallet positions, (T, 2)."""
        return np.array([skeleton(q)[-1][:2] for q in self.qpos])

    @property
    def hidden_spans(self) -> list[tuple[int, int]]:
        """Half-open intervals of observations without the puck."""
        edges = np.diff(np.concatenate([[1], self.visible.astype(int), [1]]))
        return list(zip(np.flatnonzero(edges < 0).tolist(), np.flatnonzero(edges > 0).tolist(), strict=True))

    def time_s(self, step: float) -> float:
        """Seconds since launch."""
        return step * CONTROL_DT_S

    def at(self, moment: float) -> NDArray[np.float64]:
        """Configuration at a possibly fractional step, for slow motion."""
        before = min(int(moment), len(self) - 1)
        after, share = min(before + 1, len(self) - 1), moment - before
        return self.qpos[before] + share * (self.qpos[after] - self.qpos[before])


def skeleton(qpos: NDArray[np.float64]) -> NDArray[np.float64]:
    """Positions of base, the seven links, rod end and mallet, (10, 3), for one configuration."""
    model = scene.physics_model()
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_kinematics(model, data)
    names = ["base", *(f"link_{i}" for i in range(1, 8)), "rod_end", "mallet"]
    return np.array([data.body(name).xpos for name in names])
