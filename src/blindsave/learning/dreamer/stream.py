"""What a trainer needs of an environment: n parallel streams of transitions that never stop.

A stream is the concatenation of episodes. The observation of a reset is a transition of its own (`first`, reward
0), so an episode of k actions contributes k + 1 transitions. The transition that ends an episode has `last`
(and `terminal`, unless the future beyond it still has value); the action given for it is ignored, and the next
call resets that environment.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray


class Seen(NamedTuple):
    """One time step of n environments. `action` is a placeholder the agent fills with what it then does."""

    observation: NDArray[np.float32]
    action: NDArray[np.float32]
    reward: NDArray[np.float32]
    first: NDArray[np.bool_]
    last: NDArray[np.bool_]
    terminal: NDArray[np.bool_]


class Finished(NamedTuple):
    """An episode that has just ended: figures to average (such as `saved`), and a group to tell apart by."""

    figures: Mapping[str, float]
    group: str = ""


class Stream(Protocol):
    """n environments that advance together."""

    @property
    def n(self) -> int:
        """How many environments."""
        ...

    @property
    def observation_size(self) -> int:
        """Width of an observation."""
        ...

    @property
    def action_size(self) -> int:
        """Width of an action; the environment clips to [-1, 1]."""
        ...

    def reset(self) -> Seen:
        """Start the first episode of every environment."""
        ...

    def step(self, actions: NDArray[np.float32]) -> Seen:
        """Apply unclipped actions [n, action_size]; environments whose episode had ended are reset instead."""
        ...

    def finished(self) -> list[Finished]:
        """Return the episodes that ended in the latest step."""
        ...

    def save(self) -> dict[str, NDArray]:
        """Return everything needed to continue exactly from here, as named arrays."""
        ...

    def restore(self, state: Mapping[str, NDArray]) -> None:
        """Continue from what `save` returned."""
        ...
