"""Let a policy play. `ClosedLoop` is the one place where a policy is asked and its answer reaches the robot.

`run` plays whole episodes; what happens in one is a function of (policy, episode) alone, never of places or threads.
Whoever has to look or to meddle on the way (a recording, the live arena, an exchange of memories) steps the loop:

    loop = ClosedLoop(policy, episodes)
    while len(loop.running):
        actions = loop.ask()  # the carries have moved on, the robot has not
        loop.act(actions)
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blindsave.arena.simulator import Backend
from blindsave.errors import BadInput
from blindsave.policies.base import Policy
from blindsave.task.defend import DefendBatch
from blindsave.task.episode import Episode
from blindsave.task.interface import ACTION_FLOATS
from blindsave.task.outcomes import Outcome
from blindsave.task.results import EpisodeResults

DEFAULT_PLACES = 512
NATIVE_CHUNK = 1024
Progress = Callable[[int], None]
Places = NDArray[np.int_]


class ClosedLoop:
    """A policy in the places of a batch: its carries, what it is told, and what becomes of its answers.

    Without episodes all places are free until `reset`. A policy with `privileged` is told the truth as well. One with
    `whole_batch` is asked about all places at every step, ended ones too, and may carry whatever it likes (a compiled
    agent wants one shape); all others are asked about running episodes only, and carry one row per place.
    """

    def __init__(
        self,
        policy: Policy,
        episodes: Sequence[Episode] = (),
        *,
        places: int | None = None,
        threads: int | None = None,
        backend: Backend = "auto",
    ) -> None:
        self.batch = DefendBatch(len(episodes) if places is None else places, threads=threads, backend=backend)
        self.begin(policy, episodes)

    def begin(self, policy: Policy, episodes: Sequence[Episode] = ()) -> None:
        """Let a policy, another one perhaps, begin an episode in every place; without episodes all places are free."""
        self.policy: Any = policy
        self._whole = getattr(policy, "whole_batch", False)
        fresh = self.policy.initial(self.batch.n)
        self.carry: Any = fresh if self._whole else fresh.copy()
        if episodes:
            self.batch.reset(list(episodes))

    @property
    def running(self) -> Places:
        """The places whose episodes have not ended."""
        return np.flatnonzero(self.batch.outcome == Outcome.RUNNING)

    def reset(self, episodes: Sequence[Episode], places: Places) -> None:
        """Begin episodes in some places, with fresh carries."""
        self.batch.reset(episodes, places)
        self.carry[places] = self.policy.initial(len(places))

    def ask(self, places: Places | None = None, seen: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
        """What the policy asks for, one row per running place; its carries move on.

        `seen` (all places, 19) is shown in place of what there is to see.
        """
        places = self.running if places is None else places
        batch, asked = self.batch, np.arange(self.batch.n) if self._whole else places
        told: list[NDArray] = [(batch.obs if seen is None else seen)[asked]]
        if getattr(self.policy, "privileged", False):
            told.append(batch.truth[asked])
        carry, actions = self.policy.step(self.carry if self._whole else self.carry[places], *told)
        actions, wanted = np.asarray(actions, np.float32), (len(asked), ACTION_FLOATS)
        if actions.shape != wanted:
            raise BadInput(f"policy {self.policy.name} must give actions of shape {wanted}, got {actions.shape}")
        if self._whole:
            self.carry = carry
            return actions[places]
        self.carry[places] = carry
        return actions

    def act(self, actions: ArrayLike, places: Places | None = None) -> None:
        """One control step with these actions, one row per running place.

        A broken action (not finite) never reaches the robot: its episode ends there and counts as a failure.
        """
        places = self.running if places is None else places
        actions = np.asarray(actions, np.float32)
        finite: NDArray[np.bool_] = np.all(np.isfinite(actions), axis=1)
        broken = ~finite & ~self.batch.locked[places]
        self.batch.outcome[places[broken]] = Outcome.NON_FINITE_STATE
        if not broken.all():
            self.batch.step(np.where(finite[:, None], actions, np.float32(0))[~broken], places[~broken])


def run(
    policy: Policy,
    episodes: Sequence[Episode],
    *,
    threads: int | None = None,
    places: int | None = None,
    record: bool = False,
    progress: Progress | None = None,
    backend: Backend = "auto",
) -> EpisodeResults:
    """Play every episode and return how each ended.

    A policy with a native kernel plays inside the compiled core; any other is stepped from Python, `places` episodes
    at a time, each place taking the next episode when its own ends. `progress` is told how many more have ended.
    """
    if places is not None and places < 1:
        raise BadInput(f"places must be at least 1, got {places}")
    results, tell = EpisodeResults.blank(len(episodes), record), progress or (lambda _count: None)
    if not episodes:
        return results
    capsule = getattr(policy, "native", None)
    if capsule is not None:
        batch = DefendBatch(1, threads=threads, backend=backend)
        if batch.backend == "native":
            for start in range(0, len(episodes), NATIVE_CHUNK):
                chunk = slice(start, start + NATIVE_CHUNK)
                batch.rollout(capsule, episodes[chunk], results.part(chunk))
                tell(len(episodes[chunk]))
            return results
    width = min(places or DEFAULT_PLACES, len(episodes))
    _Queue(ClosedLoop(policy, places=width, threads=threads, backend=backend), episodes, results, tell).play()
    return results


class _Queue:
    """Episodes waiting for a place: a place takes the next one when its own ends."""

    def __init__(self, loop: ClosedLoop, episodes: Sequence[Episode], results: EpisodeResults, tell: Progress) -> None:
        self.loop, self.batch, self.episodes, self.results, self.tell = loop, loop.batch, episodes, results, tell
        self.episode_of = np.full(loop.batch.n, -1)
        self.next = 0

    def play(self) -> None:
        """Play until every episode has ended."""
        self._refill(np.arange(self.batch.n))
        while len(live := self.loop.running):
            actions = self.loop.ask(live)
            self._record(live, actions)
            self.loop.act(actions, live)
            ended = live[self.batch.outcome[live] != Outcome.RUNNING]
            if len(ended):
                self._store(ended)
                self._refill(ended)

    def _refill(self, free: Places) -> None:
        """Start the next episodes in free places, as many as there are."""
        places = free[: len(self.episodes) - self.next]
        if len(places):
            following = np.arange(self.next, self.next + len(places))
            self.loop.reset(self.episodes[self.next : self.next + len(places)], places)
            self.episode_of[places] = following
            self.next += len(places)

    def _record(self, places: Places, actions: NDArray[np.float32] | None = None) -> None:
        """Write down, where recordings are wanted, what is seen in these places now and what was asked for."""
        batch, results, at = self.batch, self.results, (self.episode_of[places], self.batch.steps[places])
        if results.obs is not None and results.truth is not None and results.actions is not None:
            results.obs[at], results.truth[at] = batch.obs[places], batch.truth[places]
            if actions is not None:
                results.actions[at] = actions

    def _store(self, places: Places) -> None:
        """Write down how these places' episodes ended."""
        batch, results, episode = self.batch, self.results, self.episode_of[places]
        results.outcome[episode] = batch.outcome[places]
        results.steps[episode] = batch.steps[places]
        results.first_contact[episode] = batch.first_contact[places]
        results.reward[episode] = batch.score[places]
        self._record(places)
        self.tell(len(places))
