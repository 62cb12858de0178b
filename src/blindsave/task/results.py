"""How episodes ended and, where recorded, everything that was seen and asked for on the way."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindsave.errors import BadInput
from blindsave.task.interface import ACTION_FLOATS, OBSERVATION_FLOATS, TRUTH_FLOATS, shown
from blindsave.task.outcomes import TIMEOUT_STEPS, Outcome

SAVED_CODES = [int(outcome) for outcome in Outcome if outcome.saved]


@dataclass(frozen=True, eq=False)
class EpisodeResults:
    """How each episode ended, in the order in which the episodes were given.

    Recorded arrays are padded with zeros: an episode of `steps` control steps fills `obs[: steps + 1]` (m, 126, 19),
    `truth[: steps + 1]` (m, 126, 4) and `actions[:steps]` (m, 125, 2), which are the actions the policy asked for.
    """

    outcome: NDArray[np.int8]
    steps: NDArray[np.int16]
    first_contact: NDArray[np.int16]
    reward: NDArray[np.float64]
    """Sum over the episode."""
    obs: NDArray[np.float32] | None = None
    actions: NDArray[np.float32] | None = None
    truth: NDArray[np.float64] | None = None

    @classmethod
    def blank(cls, count: int, record: bool = False) -> "EpisodeResults":
        """Room for `count` episodes, with recordings if wanted."""
        observations = (count, TIMEOUT_STEPS + 1)
        return cls(
            outcome=np.zeros(count, np.int8),
            steps=np.zeros(count, np.int16),
            first_contact=np.full(count, -1, np.int16),
            reward=np.zeros(count, np.float64),
            obs=np.zeros((*observations, OBSERVATION_FLOATS), np.float32) if record else None,
            actions=np.zeros((count, TIMEOUT_STEPS, ACTION_FLOATS), np.float32) if record else None,
            truth=np.zeros((*observations, TRUTH_FLOATS), np.float64) if record else None,
        )

    def __len__(self) -> int:
        return len(self.outcome)

    def part(self, episodes: slice) -> "EpisodeResults":
        """Some of the episodes; writing into the part writes into the whole."""
        arrays: dict[str, Any] = {name: a[episodes] for name, a in vars(self).items() if a is not None}
        return EpisodeResults(**arrays)

    @property
    def saved(self) -> NDArray[np.bool_]:
        """Which episodes were saved."""
        return np.isin(self.outcome, SAVED_CODES)

    @property
    def visible(self) -> NDArray[np.bool_]:
        """Which recorded observations showed the puck, (m, 126)."""
        if self.obs is None:
            raise BadInput("visibility is known only for recorded episodes")
        return shown(self.obs)

    @property
    def labels(self) -> list[str]:
        """Outcome labels."""
        return [Outcome(code).label for code in self.outcome]
