"""Shadow labelling: what the teacher would have asked for along somebody else's episode.

The teacher keeps its own recurrent state, follows the student's observations, and believes that the student's
commands were its own: before every step its previous-action slot is overwritten with what the student requested.
Labels do not influence the episode, so they are made afterwards from the recording, on all cores.

A privileged teacher is told the true state as well, as it is when it plays itself: learn with the truth, distil to what
sensors see. It needs no previous-action slot.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from blindsave.errors import BadInput
from blindsave.policies.base import Policy, can_teach
from blindsave.task.results import EpisodeResults

Array = NDArray[np.float32]
GROUP = 64
"""Episodes labelled together by one thread; their carries should stay in the core's cache."""


class Teacher(Policy, Protocol):
    """A policy that can be told what somebody else did in its place."""

    def with_previous_action(self, carry: Array, action: Array) -> Array:
        """The carry as if `action` (n, 2) had been the last command; return it unchanged if there is no such slot."""
        ...


def check_teacher(teacher: Any) -> None:
    """Refuse a policy that cannot follow another one's episode."""
    if not can_teach(teacher):
        raise BadInput(f"{teacher.name} cannot label actions: it cannot be told what another policy did")


def shadow_labels(
    teacher: Any,
    obs: Array,
    actions: Array,
    steps: NDArray[np.integer],
    threads: int | None = None,
    truth: NDArray[np.float64] | None = None,
) -> Array:
    """Label recorded episodes: obs (m, T, 19), requested actions (m, T', 2), lengths (m,) to labels (m, T', 2).

    `truth` (m, T, 4) is for privileged teachers.

    Every valid step is labelled, the locked prefix included; the rest is zero. Labels are clipped to [-1, 1].
    """
    check_teacher(teacher)
    if obs.shape[0] != len(steps) or actions.shape[0] != len(steps) or actions.shape[1] < steps.max(initial=0):
        raise BadInput(
            f"observations {obs.shape}, actions {actions.shape} and {len(steps)} lengths do not belong together"
        )
    privileged, told_actions = getattr(teacher, "privileged", False), hasattr(teacher, "with_previous_action")
    if privileged and truth is None:
        raise BadInput(f"{teacher.name} labels from the true state, which this recording does not hold")
    labels = np.zeros_like(actions)
    # Longest first, so that the episodes still running are always the first ones of a group.
    order = np.argsort(-steps.astype(np.int64), kind="stable")
    groups = [order[i : i + GROUP] for i in range(0, len(order), GROUP)]

    def follow(group: NDArray[np.int64]) -> None:
        lengths = steps[group]
        carry = teacher.initial(len(group))
        previous = np.zeros((len(group), actions.shape[2]), np.float32)
        for t in range(int(lengths[0])):
            live = int((lengths > t).sum())
            carry = carry[:live]
            if told_actions:
                carry = teacher.with_previous_action(carry, previous[:live])
            told = [truth[group[:live], t]] if privileged and truth is not None else []
            carry, action = teacher.step(carry, obs[group[:live], t], *told)
            labels[group[:live], t] = np.clip(action, -1.0, 1.0)
            previous = actions[group[:live], t]

    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        list(pool.map(follow, groups))
    return labels


def action_error(teacher: Teacher, played: EpisodeResults, threads: int | None = None) -> NDArray[np.float64]:
    """Mean squared distance, per recorded episode, between the actions asked for and the shadow teacher's."""
    obs, actions, steps = played.obs, played.actions, played.steps
    if obs is None or actions is None:
        raise BadInput("action errors are known only for recorded episodes")
    labels = shadow_labels(teacher, obs, actions, steps, threads, played.truth)
    square = ((actions.astype(np.float64) - labels) ** 2).mean(axis=2)
    # Step after step: published rows depend on the order of this sum.
    total = np.add.accumulate(np.where(np.arange(actions.shape[1]) < steps[:, None], square, 0.0), axis=1)
    return total[:, -1] / np.maximum(steps, 1)
