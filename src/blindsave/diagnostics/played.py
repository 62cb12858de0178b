"""What diagnostics ask of played episodes: counts of a grid, and episodes without blackout as a dataset has them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from blindsave.learning.distil.dataset import Episodes
from blindsave.policies import closed_loop
from blindsave.policies.base import Policy
from blindsave.task.conditions import grid
from blindsave.task.outcomes import Outcome
from blindsave.task.results import EpisodeResults
from blindsave.task.shots import Shot

Saves = dict[str, dict[str, int]]


def saves_by_length(played: EpisodeResults, lengths: Sequence[int]) -> Saves:
    """Saves of a grid, shot by shot, by blackout length."""
    saved = played.saved.reshape(-1, len(lengths))
    return {str(length): {"saves": int(saved[:, i].sum()), "shots": len(saved)} for i, length in enumerate(lengths)}


def outcome_counts(played: EpisodeResults) -> dict[str, int]:
    """How many episodes ended in which way, in the order of the outcomes' codes."""
    codes, counts = np.unique(played.outcome, return_counts=True)
    return {Outcome(code).label: int(count) for code, count in zip(codes, counts, strict=True)}


def clear_episodes(
    policy: Policy,
    chosen: Sequence[Shot],
    threads: int | None = None,
    index: NDArray[np.int64] | None = None,
    progress: closed_loop.Progress | None = None,
) -> Episodes:
    """A policy on every shot without blackout; labels are its own actions, `index` the numbers of the episodes."""
    played = closed_loop.run(policy, grid(chosen, [0]), threads=threads, record=True, progress=progress)
    assert played.obs is not None and played.actions is not None
    valid = np.arange(played.actions.shape[1]) < played.steps[:, None]
    places, action = np.arange(len(chosen)), np.clip(played.actions, -1.0, 1.0)[valid]
    numbers, zeros = places.astype(np.int16), np.zeros(len(chosen), np.int16)
    return Episodes(
        obs=played.obs[:, : valid.shape[1]][valid],
        action=action,
        label=action,
        index=places if index is None else index,
        seed=places,
        shot=numbers,
        blackout=zeros,
        steps=played.steps,
        outcome=played.outcome,
        first_contact=played.first_contact,
        score=played.reward,
        final_obs=played.obs[places, played.steps],
    )
