"""Let a policy play whole episodes. The result is a function of (policy, episode) alone: never of lanes or threads."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from blindsave.arena.simulator import Backend
from blindsave.errors import BadInput
from blindsave.policies.base import Policy
from blindsave.policies.scripted import Privileged
from blindsave.task.defend import DefendBatch
from blindsave.task.episode import Episode
from blindsave.task.outcomes import TIMEOUT_STEPS, Outcome

DEFAULT_LANES = 512
NATIVE_CHUNK = 1024
SAVED_CODES = [int(outcome) for outcome in Outcome if outcome.saved]
Progress = Callable[[int], None]


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

    def __len__(self) -> int:
        return len(self.outcome)

    @property
    def saved(self) -> NDArray[np.bool_]:
        """Which episodes were saved."""
        return np.isin(self.outcome, SAVED_CODES)

    @property
    def visible(self) -> NDArray[np.bool_]:
        """Which recorded observations showed the puck, (m, 126)."""
        if self.obs is None:
            raise BadInput("visibility is known only for recorded episodes")
        return self.obs[:, :, 18] > 0.5

    @property
    def labels(self) -> list[str]:
        """Outcome labels."""
        return [Outcome(code).label for code in self.outcome]


def run(
    policy: Policy | Privileged,
    episodes: Sequence[Episode],
    *,
    threads: int | None = None,
    lanes: int | None = None,
    record: bool = False,
    progress: Progress | None = None,
    backend: Backend = "auto",
) -> EpisodeResults:
    """Play every episode and return how each ended.

    A policy with a native kernel plays inside the compiled core; any other is stepped from Python, `lanes` episodes
    at a time, each lane taking the next episode when its own ends. `progress` is told how many more have ended.
    """
    if lanes is not None and lanes < 1:
        raise BadInput(f"lanes must be at least 1, got {lanes}")
    tell = progress or (lambda _count: None)
    if not episodes:
        return _blank(0, record)
    width = min(lanes or DEFAULT_LANES, len(episodes))
    capsule = None if _is_privileged(policy) else getattr(policy, "native", None)
    if capsule is not None:
        batch = DefendBatch(1, threads=threads, backend=backend)
        if batch.backend == "native":
            return _run_native(capsule, batch, episodes, record, tell)
    batch = DefendBatch(width, threads=threads, backend=backend)
    return _Lanes(policy, batch, episodes, record, tell).run()


def _is_privileged(policy: Any) -> TypeGuard[Privileged]:
    """Whether the policy asks for the truth; then `step` takes it as a third argument."""
    return getattr(policy, "privileged", False)


def _blank(count: int, record: bool) -> EpisodeResults:
    results = EpisodeResults(
        outcome=np.zeros(count, np.int8),
        steps=np.zeros(count, np.int16),
        first_contact=np.full(count, -1, np.int16),
        reward=np.zeros(count, np.float64),
    )
    if not record:
        return results
    return EpisodeResults(
        results.outcome,
        results.steps,
        results.first_contact,
        results.reward,
        obs=np.zeros((count, TIMEOUT_STEPS + 1, 19), np.float32),
        actions=np.zeros((count, TIMEOUT_STEPS, 2), np.float32),
        truth=np.zeros((count, TIMEOUT_STEPS + 1, 4), np.float64),
    )


def _run_native(
    capsule: Any, batch: DefendBatch, episodes: Sequence[Episode], record: bool, tell: Progress
) -> EpisodeResults:
    results = _blank(len(episodes), record)
    for start in range(0, len(episodes), NATIVE_CHUNK):
        chunk = episodes[start : start + NATIVE_CHUNK]
        part = batch.rollout(capsule, chunk, record=record)
        for field in fields(EpisodeResults):
            target = getattr(results, field.name)
            if target is not None:
                source = "score" if field.name == "reward" else field.name
                target[start : start + len(chunk)] = getattr(part, source)
        tell(len(chunk))
    return results


class _Lanes:
    """Episodes running side by side, stepped from Python; a lane takes the next episode when its own ends."""

    def __init__(
        self,
        policy: Policy | Privileged,
        batch: DefendBatch,
        episodes: Sequence[Episode],
        record: bool,
        tell: Progress,
    ) -> None:
        self.policy, self.batch, self.episodes, self.tell = policy, batch, episodes, tell
        self.results = _blank(len(episodes), record)
        self.carry = policy.initial(batch.n).copy()
        self.episode_of = np.full(batch.n, -1)
        self.next = 0

    def run(self) -> EpisodeResults:
        """Play until every episode has ended."""
        live = self._refill(np.arange(self.batch.n))
        while len(live):
            ended = self._step(live)
            if ended.any():
                self._store(live[ended])
                live = np.sort(np.concatenate([live[~ended], self._refill(live[ended])]))
        return self.results

    def _refill(self, free: NDArray[np.int_]) -> NDArray[np.int_]:
        """Start the next episodes in free lanes; return the lanes that got one."""
        count = min(len(free), len(self.episodes) - self.next)
        lanes = free[:count]
        if count:
            self.batch.reset(self.episodes[self.next : self.next + count], lanes)
            self.carry[lanes] = self.policy.initial(count)
            self.episode_of[lanes] = np.arange(self.next, self.next + count)
            self.next += count
        return lanes

    def _step(self, live: NDArray[np.int_]) -> NDArray[np.bool_]:
        """One control step in the live lanes; return which of them ended."""
        obs, truth = self.batch.obs[live], self.batch.truth[live]
        if _is_privileged(self.policy):
            carry, actions = self.policy.step(self.carry[live], obs, truth)
        else:
            plain: Any = self.policy
            carry, actions = plain.step(self.carry[live], obs)
        self.carry[live] = carry
        actions = np.asarray(actions, np.float32)
        if actions.shape != (len(live), 2):
            raise BadInput(
                f"policy {self.policy.name} must give actions of shape ({len(live)}, 2), got {actions.shape}"
            )
        self._record(live, obs, truth, actions)
        # A broken policy never reaches the robot: its episode ends there and counts as a failure.
        finite: NDArray[np.bool_] = np.all(np.isfinite(actions), axis=1)
        broken = ~finite & ~self.batch.locked[live]
        self.batch.outcome[live[broken]] = Outcome.NON_FINITE_STATE
        if not broken.all():
            self.batch.step(np.where(finite[:, None], actions, np.float32(0))[~broken], live[~broken])
        return np.asarray(self.batch.outcome[live] != Outcome.RUNNING)

    def _record(self, live: NDArray[np.int_], obs: NDArray, truth: NDArray, actions: NDArray) -> None:
        results, episode, t = self.results, self.episode_of[live], self.batch.steps[live]
        if results.obs is not None and results.truth is not None and results.actions is not None:
            results.obs[episode, t], results.truth[episode, t], results.actions[episode, t] = obs, truth, actions

    def _store(self, lanes: NDArray[np.int_]) -> None:
        """Write down how these lanes' episodes ended."""
        batch, results, episode = self.batch, self.results, self.episode_of[lanes]
        results.outcome[episode] = batch.outcome[lanes]
        results.steps[episode] = batch.steps[lanes]
        results.first_contact[episode] = batch.first_contact[lanes]
        results.reward[episode] = batch.score[lanes]
        if results.obs is not None and results.truth is not None:
            results.obs[episode, batch.steps[lanes]] = batch.obs[lanes]
            results.truth[episode, batch.steps[lanes]] = batch.truth[lanes]
        self.tell(len(lanes))
