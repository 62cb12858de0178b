"""Recorded episodes from which a student in whole numbers learns how large its values become."""

from typing import Any

from blindsave.deploy.integers import IntegerPolicy, Integers
from blindsave.deploy.quantise import integer_policy
from blindsave.policies.arithmetic import Array
from blindsave.policies.closed_loop import run
from blindsave.task.conditions import grid
from blindsave.task.shots import shots

SPLIT, SHOTS, BLACKOUTS = "train", 60, (0, 10, 20, 25)
"""Shots that no result is measured on."""


def recorded(policy: Any, threads: int | None = None) -> list[Array]:
    """What the policy saw in its own closed loop, one array (steps, 19) per episode."""
    episodes = grid(shots(SPLIT)[:SHOTS], BLACKOUTS)
    results = run(policy, episodes, record=True, threads=threads)
    assert results.obs is not None
    return [results.obs[i, : results.steps[i]] for i in range(len(results))]


def in_integers(policy: Any, integers: Integers, threads: int | None = None) -> IntegerPolicy:
    """The policy in whole numbers, calibrated on its own episodes."""
    return integer_policy(policy, integers, recorded(policy, threads) if hasattr(policy, "program") else [])
