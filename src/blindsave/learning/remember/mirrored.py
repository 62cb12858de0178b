"""Play episodes in which, until the arm is released, what a policy hears of its own requests says nothing.

A policy is told what it requested before, and a teacher's requests name the side from the first step on: students of
such episodes learn to repeat what they hear instead of remembering the puck, and are lost when they play themselves
(docs/remember.md). While the arm is held requests have no effect. So in the episodes that are `mirrored` every request
until the release is mirrored, left for right, before it is recorded and before the policy hears of it.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindsave.policies.base import ACTION_FLOATS
from blindsave.policies.closed_loop import ClosedLoop
from blindsave.task.episode import Episode
from blindsave.task.results import EpisodeResults

PLACES = 512
"""Episodes side by side."""
MIRROR = np.array([1.0, -1.0], np.float32)
"""Left for right: the second number of a request is the one that names the side."""
Hear = Callable[[Any, Any], Any]


def play(
    policy: Any,
    episodes: Sequence[Episode],
    mirrored: NDArray[np.bool_],
    threads: int | None = None,
    said: NDArray[np.float32] | None = None,
) -> EpisodeResults:
    """Play and record every episode, with requests mirrored until the release where `mirrored`.

    With `said` (episodes, 125, 2), what is mirrored are these requests and not the policy's own of that moment.
    """
    results = EpisodeResults.blank(len(episodes), record=True)
    for start in range(0, len(episodes), PLACES):
        part = slice(start, start + PLACES)
        before = None if said is None else said[part]
        _side_by_side(policy, episodes[part], mirrored[part], results.part(part), threads, before)
    return results


def misheard(
    policy: Any, episodes: Sequence[Episode], threads: int | None = None
) -> tuple[EpisodeResults, EpisodeResults]:
    """The test for copying: episodes as they are, then with the opposite of their requests heard until the release.

    Whoever remembers plays the second ones like the first. Whoever repeats what it hears goes to the other side.
    (Mirroring what it requests then would not do: a copier would change sides at every step.)
    """
    nobody = np.zeros(len(episodes), np.bool_)
    straight = play(policy, episodes, nobody, threads)
    return straight, play(policy, episodes, ~nobody, threads, straight.actions)


def _side_by_side(
    policy: Any,
    episodes: Sequence[Episode],
    mirrored: NDArray[np.bool_],
    results: EpisodeResults,
    threads: int | None,
    said: NDArray[np.float32] | None,
) -> None:
    loop, hear = ClosedLoop(policy, episodes, threads=threads), hearing(policy)
    batch = loop.batch
    assert results.obs is not None and results.truth is not None and results.actions is not None
    results.obs[:, 0], results.truth[:, 0] = batch.obs, batch.truth
    while len(live := loop.running):
        now = batch.steps[live].copy()
        actions = np.clip(loop.ask(live), -1.0, 1.0)
        changed = mirrored[live] & batch.locked[live]
        if said is not None:
            actions[changed] = said[live[changed], now[changed]]
        actions[changed] *= MIRROR
        loop.carry[live[changed]] = hear(loop.carry[live[changed]], actions[changed])
        results.actions[live, now] = actions
        loop.act(actions, live)
        results.obs[live, now + 1], results.truth[live, now + 1] = batch.obs[live], batch.truth[live]
    results.outcome[:], results.steps[:] = batch.outcome, batch.steps
    results.first_contact[:], results.reward[:] = batch.first_contact, batch.score


def hearing(policy: Any) -> Hear:
    """How a policy is made to believe that it requested something: carry and request to carry."""
    if hasattr(policy, "with_previous_action"):
        return policy.with_previous_action
    family = getattr(policy, "family", None)
    if family is not None and family.core.recurrent:
        return lambda carry, action: np.concatenate([carry[:, :-ACTION_FLOATS], action], axis=1)
    return lambda carry, _action: carry
