"""A policy that forgets: its whole carry is replaced by a fresh one at the moment the puck disappears."""

import numpy as np
from numpy.typing import NDArray

from blindsave.policies.base import Policy
from blindsave.task.interface import VISIBLE
from blindsave.task.tracking import BLACKOUT_START


class ResetAt:
    """Another policy, made to forget everything immediately before it processes observation `step`.

    It happens once per episode, and only if that observation does not show the puck: with no blackout nothing is
    touched, and every episode is that of the policy itself, bit for bit. The carry is the policy's own and one more
    float, the number of observations seen so far. Rows remain independent, so results stay a function of
    (policy, episode). There is no `native` form: a reset is an experiment, not something to deploy.
    """

    def __init__(self, policy: Policy, step: int = BLACKOUT_START) -> None:
        self.policy = policy
        self.reset_step = step

    @property
    def privileged(self) -> bool:
        """Whether the policy is told the truth."""
        return getattr(self.policy, "privileged", False)

    @property
    def name(self) -> str:
        """The policy's name with `_reset`, before its training seed if it has one."""
        family, slash, seed = self.policy.name.partition("/")
        return f"{family}_reset{slash}{seed}"

    def initial(self, n: int) -> NDArray[np.float32]:
        """Fresh carries, nothing seen."""
        return np.concatenate((self.policy.initial(n), np.zeros((n, 1), np.float32)), axis=1)

    def step(
        self, carry: NDArray[np.float32], observation: NDArray[np.float32], *truth: NDArray[np.float64]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """One step of the policy, from a fresh carry in the rows whose moment has come."""
        own, seen = carry[:, :-1], carry[:, -1:]
        hidden = observation[:, VISIBLE] == 0
        forget = hidden & (seen[:, 0] == self.reset_step)
        own = np.where(forget[:, None], self.policy.initial(len(own)), own)
        own, action = self.policy.step(own, observation, *truth)
        return np.concatenate((own, seen + np.float32(1)), axis=1), action
