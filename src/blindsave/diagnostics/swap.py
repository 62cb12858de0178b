"""Who remembers, the network or the arm? Twins exchange their memories while the puck is hidden.

The shots of an alias family look the same when the puck disappears and go to opposite posts. Two episodes of one
policy, one per twin, run side by side; before a chosen observation something is done to both:

    exchange  each goes on with everything the other one's network retained (its carry)
    erase     each goes on with a fresh carry, if the puck is hidden then
    arm       each is shown its twin's arm in place of its own, from then on
    leave     each arm is sent to its twin's side as hard as it can go, whatever the policy says: the control
    hold      nothing happens to memories, but until then the arm is held where it is

After an exchange network and arm disagree about the post. A goal means that the network's memory decided. A save
means that the arm did: because the policy reads its posture, or because it is too late to leave. Where arms that are
sent away concede what exchanged memories save, it was not too late. An arm that is held cannot remember anything: what
is saved then, the network remembered. docs/memory-tests.md has the figures.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from blindsave.errors import BadInput
from blindsave.evidence.intervals import Interval, interval
from blindsave.evidence.resample import REPLICATES, principal_draws, replicate_rates
from blindsave.policies.base import Policy
from blindsave.policies.catalog import NamedPolicy
from blindsave.policies.closed_loop import ClosedLoop
from blindsave.policies.reset import ResetAt
from blindsave.task.audit import families
from blindsave.task.conditions import grid
from blindsave.task.episode import Episode
from blindsave.task.interface import ACTION_FLOATS, ARM, MALLET
from blindsave.task.outcomes import TIMEOUT_STEPS, Outcome
from blindsave.task.results import SAVED_CODES
from blindsave.task.shots import Shot
from blindsave.task.tracking import BLACKOUT_START

How = Literal["exchange", "erase", "arm", "leave", "hold"]
HOWS: tuple[How, ...] = ("exchange", "erase", "arm", "leave", "hold")
TWINS = 2
Progress = Callable[[int], None]


@dataclass(frozen=True)
class Swap:
    """One policy whose twins were disturbed before observation `step`; None: never."""

    policy: str
    how: How
    step: int | None
    training_seeds: tuple[int, ...]
    shots: int
    saves: int
    """Over all training seeds."""
    rate: Interval
    """Fraction of one; training seeds and pairs of twins are resampled."""


class Played(NamedTuple):
    """How episodes ended, what was requested (n, 125, 2), how long each was, and where its mallet ended."""

    outcome: NDArray[np.int8]
    actions: NDArray[np.float32]
    steps: NDArray[np.int16]
    places: NDArray[np.float32]
    """x and y (n, 2) of the last observation."""

    @property
    def saved(self) -> NDArray[np.bool_]:
        """Which were saved."""
        return np.isin(self.outcome, SAVED_CODES)

    @property
    def kept_out(self) -> NDArray[np.bool_]:
        """Which were no goals."""
        return self.outcome != Outcome.GOAL_CONCEDED


def twins(split: str, pairs: int | None = None) -> list[Shot]:
    """The alias shots of a split, twins side by side; the first `pairs` families only, if given."""
    found = [shot for pair in families(split)[:pairs] for shot in pair]
    if not found:
        raise BadInput(f"the split {split} has no pairs of alias shots")
    return found


def play(
    policy: Policy,
    episodes: Sequence[Episode],
    how: How,
    step: int | None,
    *,
    undisturbed: Played | None = None,
    threads: int | None = None,
) -> Played:
    """Play pairs of episodes (2i and 2i + 1 are twins), disturbed before observation `step`.

    A twin that has ended by then gives the memory that it had at its end. To know where to `leave` for needs the
    `undisturbed` episodes.
    """
    if how not in HOWS:
        raise BadInput(f"twins can be disturbed by {', '.join(HOWS)}, not by {how!r}")
    _check_moment(step)
    n = len(episodes)
    if n % TWINS:
        raise BadInput(f"twins come in pairs, got {n} episodes")
    if how == "leave" and step is not None and undisturbed is None:
        raise BadInput("to know its twin's side, an arm needs the undisturbed episodes")
    if how == "hold" and step is not None:
        episodes = [replace(episode, locked_steps=step) for episode in episodes]
    if how == "erase" and step is not None:
        policy = ResetAt(policy, step)
    away = None if undisturbed is None or how != "leave" else _away(undisturbed)
    loop = ClosedLoop(policy, episodes, threads=threads)
    batch, actions = loop.batch, np.zeros((n, TIMEOUT_STEPS, ACTION_FLOATS), np.float32)
    for t in range(TIMEOUT_STEPS):
        live = loop.running
        if not len(live):
            break
        if t == step and how == "exchange":
            loop.carry = loop.carry[_twin(n)]
        others_arm = how == "arm" and step is not None and t >= step
        actions[live, t] = loop.ask(live, _with_twins_arms(batch.obs) if others_arm else None)
        if away is not None and step is not None and t >= step:
            actions[live, t] = away[live]
        loop.act(actions[live, t], live)
    return Played(batch.outcome.copy(), actions, batch.steps.copy(), batch.obs[:, MALLET].copy())


def _with_twins_arms(obs: NDArray[np.float32]) -> NDArray[np.float32]:
    """What everyone would see with its twin's arm; of a twin that has ended, the arm as it was last."""
    seen = obs.copy()
    seen[:, ARM] = obs[_twin(len(obs)), ARM]
    return seen


def _check_moment(step: int | None) -> None:
    if step is not None and not 0 <= step < TIMEOUT_STEPS:
        raise BadInput(f"twins are disturbed before an observation from 0 to {TIMEOUT_STEPS - 1}, not {step}")


def _away(undisturbed: Played) -> NDArray[np.float32]:
    """Requests that send every mallet as far as it goes to the side on which its twin's mallet ended."""
    there = undisturbed.places[_twin(len(undisturbed.places))]
    return np.stack([there[:, 0], np.sign(there[:, 1] - undisturbed.places[:, 1])], axis=1)


def _twin(n: int) -> NDArray[np.int_]:
    """The place of everyone's twin."""
    return np.arange(n) ^ 1


def swaps(
    name: str,
    policies: Sequence[NamedPolicy],
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
    """A policy's save rates by when it is disturbed, undisturbed first; `policies` are its training seeds."""
    for step in steps:
        _check_moment(step)
    episodes = grid(twins(split, pairs), (blackout,))
    sizes = np.full(len(episodes) // TWINS, TWINS)
    draws = principal_draws(blackout, len(policies), len(sizes), replicates)
    seeds = tuple(one.training_seed for one in policies)
    undisturbed: list[Played] = []
    found = []
    for step in (None, *steps):
        played = []
        for i, one in enumerate(policies):
            before = undisturbed[i] if undisturbed else None
            played.append(play(one.policy, episodes, how, step, undisturbed=before, threads=threads))
            if progress:
                progress(len(episodes))
        undisturbed = undisturbed or played
        saved = np.stack([one.saved.reshape(-1, TWINS).sum(axis=1) for one in played])
        (rates,) = replicate_rates(draws, [saved], sizes)
        rate = interval(float(saved.sum() / (sizes.sum() * len(policies))), rates)
        found.append(Swap(name, how, step, seeds, len(episodes), int(saved.sum()), rate))
    return found


def milliseconds(step: int) -> int:
    """How long the puck has been hidden when observation `step` is processed; negative before."""
    return 20 * (step - BLACKOUT_START)
