"""Policies that were never trained: two that cannot succeed and one that is told the truth."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blindsave.errors import BadInput
from blindsave.task import controllers


@dataclass(frozen=True)
class Scripted:
    """A rule without memory, over what is seen or, if `privileged`, over the truth: an upper bound, not a goalkeeper.

    `privileged` asks the closed loop to pass the true x, y, vx, vy (n, 4) in the robot frame as a third argument.
    """

    name: str
    rule: Callable[[NDArray], NDArray[np.float32]]
    privileged: bool = False

    def initial(self, n: int) -> NDArray[np.float32]:
        """Nothing is retained."""
        return np.zeros((n, 0), np.float32)

    def step(
        self, carry: NDArray[np.float32], observation: NDArray[np.float32], truth: NDArray[np.float64] | None = None
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Rows of observations, or of true states, to rows of actions."""
        if not self.privileged:
            return carry, self.rule(observation)
        if truth is None:
            raise BadInput(f"{self.name} has to be told the truth; the closed loop does so")
        return carry, self.rule(truth)


INACTIVE = Scripted("inactive", controllers.hold)
FIXED_CENTRE = Scripted("fixed_centre", controllers.stay_central)
PRIVILEGED = Scripted("privileged", controllers.intercept, privileged=True)
SCRIPTED = {one.name: one for one in (INACTIVE, FIXED_CENTRE, PRIVILEGED)}
