"""Who remembers, the network or the arm? Twins exchange their memories while the puck is hidden.

The shots of an alias family look the same when the puck disappears and go to opposite posts. Two episodes of one
policy, one per twin, run side by side; at a chosen observation each goes on with everything the other one's network
retained (its carry). From then on network and arm disagree about the post. If the shot is still saved, the posture of
the arm, which every policy sees, decided; if not, the network's memory did. Since late in an episode there is no time
left to leave a post, it is also asked what the policy requests a little later: rather what it would have requested
undisturbed, or rather what its twin would have. `erase` gives a fresh carry instead. docs/memory-tests.md has the
figures.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from blindsave.errors import BadInput
from blindsave.evidence.intervals import Interval, interval
from blindsave.evidence.resample import REPLICATES, principal_draws, replicate_rates
from blindsave.policies.base import Policy
from blindsave.policies.closed_loop import SAVED_CODES
from blindsave.task.defend import DefendBatch
from blindsave.task.episode import Episode, grid
from blindsave.task.outcomes import TIMEOUT_STEPS, Outcome
from blindsave.task.shots import Shot, shots
from blindsave.task.tracking import BLACKOUT_START

How = Literal["exchange", "erase"]
HOWS: tuple[How, ...] = ("exchange", "erase")
TWINS = 2
LATER_STEPS = 5
"""How long after the change requests are compared: 100 ms."""
Progress = Callable[[int], None]


@dataclass(frozen=True)
class Swap:
    """One policy whose memories were changed before it processed observation `step`; None: never."""

    policy: str
    how: How
    step: int | None
    training_seeds: tuple[int, ...]
    shots: int
    saves: int
    """Over all training seeds."""
    rate: Interval
    """Fraction of one; training seeds and pairs of twins are resampled."""
    own_requests: float | None
    """Share of episodes whose request 100 ms later is nearer to their own undisturbed one than to their twin's; None
    where the puck is back in view by then, and where nothing was changed."""


class Played(NamedTuple):
    """Which episodes were saved, what was requested (n, 125, 2), and how many steps each had."""

    saved: NDArray[np.bool_]
    actions: NDArray[np.float32]
    steps: NDArray[np.int16]


def twins(split: str, pairs: int | None = None) -> list[Shot]:
    """The alias shots of a split, twins side by side; the first `pairs` families only, if given."""
    families: dict[str, list[Shot]] = {}
    for shot in shots(split):
        if shot.alias_family is not None:
            families.setdefault(shot.alias_family, []).append(shot)
    found = [shot for family in list(families.values())[:pairs] for shot in family]
    if not found or any(len(family) != TWINS for family in families.values()):
        raise BadInput(f"the split {split} has no pairs of alias shots")
    return found


def play(
    policy: Policy, episodes: Sequence[Episode], how: How, step: int | None, *, threads: int | None = None
) -> Played:
    """Play pairs of episodes (2i and 2i + 1 are twins) and change all memories before observation `step`.

    A twin that has ended by then gives the memory that it had at its end.
    """
    if how not in HOWS:
        raise BadInput(f"memories can be changed by {' or '.join(HOWS)}, not by {how!r}")
    n = len(episodes)
    if n % TWINS:
        raise BadInput(f"twins come in pairs, got {n} episodes")
    batch = DefendBatch(n, threads=threads)
    batch.reset(list(episodes))
    carry, actions = policy.initial(n).copy(), np.zeros((n, TIMEOUT_STEPS, 2), np.float32)
    for t in range(TIMEOUT_STEPS):
        live = np.flatnonzero(batch.outcome == Outcome.RUNNING)
        if not len(live):
            break
        if t == step:
            carry = carry[_twin(n)] if how == "exchange" else policy.initial(n).copy()
        carry[live], actions[live, t] = policy.step(carry[live], batch.obs[live])
        batch.step(actions[live, t], live)
    return Played(np.isin(batch.outcome, SAVED_CODES), actions, batch.steps.copy())


def own_requests(changed: Played, undisturbed: Played, step: int) -> NDArray[np.bool_]:
    """Is the request a little after `step` rather their own?

    Of the episodes that still run, like their twins, and whose undisturbed request is not the same as their twin's.
    """
    later, twin = step + LATER_STEPS, _twin(len(changed.saved))
    running = (changed.steps > later) & (undisturbed.steps > later) & (undisturbed.steps[twin] > later)
    requested, own = changed.actions[:, later], undisturbed.actions[:, later]
    to_own, to_twin = (np.linalg.norm(requested - other, axis=1) for other in (own, own[twin]))
    return (to_own < to_twin)[running & (own != own[twin]).any(axis=1)]


def _twin(n: int) -> NDArray[np.int_]:
    """The place of everyone's twin."""
    return np.arange(n) ^ 1


def swaps(
    name: str,
    players: Sequence[tuple[int, Any]],
    *,
    split: str = "test",
    steps: Sequence[int] = (),
    blackout: int = 20,
    how: How = "exchange",
    pairs: int | None = None,
    threads: int | None = None,
    replicates: int = REPLICATES,
    progress: Progress | None = None,
) -> list[Swap]:
    """A policy's save rates by when its memory is changed, undisturbed first; `players` are (training seed, policy)."""
    for step in steps:
        if not 0 <= step < TIMEOUT_STEPS:
            raise BadInput(f"memories change before an observation from 0 to {TIMEOUT_STEPS - 1}, not {step}")
    episodes = grid(twins(split, pairs), (blackout,))
    sizes = np.full(len(episodes) // TWINS, TWINS)
    draws = principal_draws(blackout, len(players), len(sizes), replicates)
    seeds = tuple(seed for seed, _ in players)
    undisturbed: list[Played] = []
    found = []
    for step in (None, *steps):
        played = []
        for _, player in players:
            played.append(play(player, episodes, how, step, threads=threads))
            if progress:
                progress(len(episodes))
        undisturbed = undisturbed or played
        saved = np.stack([one.saved.reshape(-1, TWINS).sum(axis=1) for one in played])
        (rates,) = replicate_rates(draws, [saved], sizes)
        rate = interval(float(saved.sum() / (sizes.sum() * len(players))), rates)
        own = None
        if step is not None and step + LATER_STEPS < BLACKOUT_START + blackout:
            kept = [own_requests(one, before, step) for one, before in zip(played, undisturbed, strict=True)]
            own = float(np.concatenate(kept).mean()) if sum(map(len, kept)) else None
        found.append(Swap(name, how, step, seeds, len(episodes), int(saved.sum()), rate, own))
    return found


def milliseconds(step: int) -> int:
    """How long the puck has been hidden when observation `step` is processed; negative before."""
    return 20 * (step - BLACKOUT_START)
