"""The policy contract: anything that maps what was seen to a mallet target."""

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from blindsave.task.interface import ACTION_FLOATS, OBSERVATION_FLOATS

__all__ = ["ACTION_FLOATS", "OBSERVATION_FLOATS", "Policy", "can_teach"]


@runtime_checkable
class Policy(Protocol):
    """Two pure functions over explicit carries, batched by a leading axis.

    The carry holds everything retained between steps, the previous requested action included. A new episode means a
    fresh carry from `initial`; nothing else resets it. The rows of a batch never influence each other.
    A policy may also have an attribute `native`: a PyCapsule of name `blindsave.policy` (task/core/policy.h)
    through which a whole closed-loop episode runs in C, or None. Other attributes ask the closed loop for something
    (`ClosedLoop`): `privileged` for the truth as a third argument of `step`, `whole_batch` for all rows at every step.
    """

    @property
    def name(self) -> str:
        """What tables and messages call this policy."""
        ...

    def initial(self, n: int) -> NDArray[np.float32]:
        """Fresh carries, one row per episode: (n, C), where C may be zero."""
        ...

    def step(
        self, carry: NDArray[np.float32], observation: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """(n, C) carries and (n, 19) observations to new carries and (n, 2) actions in [-1, 1]."""
        ...


def can_teach(policy: Any) -> bool:
    """Whether a policy can label what others do: it is told the truth, or what was done in its place."""
    return hasattr(policy, "with_previous_action") or getattr(policy, "privileged", False)
