"""Policies that were never trained: two that cannot succeed and one that is told the truth."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blindsave.task import controllers

Carry = NDArray[np.float32]


@dataclass(frozen=True)
class Scripted:
    """A rule over the observation, without memory."""

    name: str
    rule: Callable[[NDArray[np.float32]], NDArray[np.float32]]

    def initial(self, n: int) -> Carry:
        """Nothing is retained."""
        return np.zeros((n, 0), np.float32)

    def step(self, carry: Carry, observation: NDArray[np.float32]) -> tuple[Carry, NDArray[np.float32]]:
        """Rows of observations to rows of actions."""
        return carry, self.rule(observation)


@dataclass(frozen=True)
class Privileged:
    """Knows the puck's true state and waits where it will cross; an upper bound, not a goalkeeper.

    `privileged` asks the closed loop to pass the true x, y, vx, vy (n, 4) in the robot frame as a third argument.
    """

    name: str = "privileged"
    privileged: bool = True

    def initial(self, n: int) -> Carry:
        """Nothing is retained."""
        return np.zeros((n, 0), np.float32)

    def step(
        self, carry: Carry, observation: NDArray[np.float32], truth: NDArray[np.float64]
    ) -> tuple[Carry, NDArray[np.float32]]:
        """Rows of true states to rows of actions; the observation is not read."""
        return carry, controllers.intercept(truth)


INACTIVE = Scripted("inactive", controllers.hold)
FIXED_CENTRE = Scripted("fixed_centre", controllers.stay_central)
PRIVILEGED = Privileged()
SCRIPTED: dict[str, Scripted | Privileged] = {p.name: p for p in (INACTIVE, FIXED_CENTRE, PRIVILEGED)}
