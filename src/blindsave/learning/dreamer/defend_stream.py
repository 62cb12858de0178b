"""The air-hockey defence as a training stream: train shots, blackouts of 0-20 steps, drawn at every reset."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from blindsave.errors import BadInput
from blindsave.learning.dreamer.stream import Finished, Seen
from blindsave.task.conditions import CLEAN_NAME
from blindsave.task.defend import DefendBatch
from blindsave.task.episode import Episode
from blindsave.task.interface import ACTION_FLOATS, OBSERVATION_FLOATS
from blindsave.task.mixture import Conditions, Mixture
from blindsave.task.outcomes import Outcome
from blindsave.task.shots import shots

SAMPLING_SEED = 5303
LONGEST_BLACKOUT = 20
GROUPS = ((0, 0), (1, 5), (6, 10), (11, 15), (16, 20))


def group_of(length: int) -> str:
    """Return the bucket of a blackout length, such as `6-10`."""
    low, high = next((g for g in GROUPS if g[0] <= length <= g[1]), (length, length))
    return str(low) if low == high else f"{low}-{high}"


class DefendStream:
    """n places of the defence task in lockstep.

    One generator serves all environments of a teacher: at every reset it draws the shot, then the blackout length.
    Environments that reset in the same step draw in the order of their index, so with n = 1 the draws are the
    original's. Under `conditions` that are not clean it then draws which one it is, and what chance does. A
    population's teachers own n / population consecutive places each and have equal generators.

    An episode that runs out of time is `last` but not `terminal`, unless `timeouts` is `terminate`.
    """

    observation_size = OBSERVATION_FLOATS
    action_size = ACTION_FLOATS

    def __init__(
        self,
        n: int,
        *,
        split: str = "train",
        seed: int = SAMPLING_SEED,
        timeouts: Literal["truncate", "terminate"] = "truncate",
        population: int = 1,
        threads: int | None = None,
        conditions: Conditions = CLEAN_NAME,
    ) -> None:
        if n % population:
            raise BadInput(f"{n} environments cannot be shared equally by {population} teachers")
        self.n = n
        self._terminal = [o for o in Outcome if o != Outcome.RUNNING and (timeouts == "terminate" or not o.timed_out)]
        self._batch = DefendBatch(n, threads=threads)
        self._shots = shots(split)
        self._draw = [np.random.default_rng(seed) for _ in range(population)]
        self._conditions = Mixture.of(conditions)
        self._length = np.zeros(n, np.int64)
        self._ended = np.ones(n, bool)

    def reset(self) -> Seen:
        """Start the first episode of every environment."""
        self._ended[:] = True
        return self.step(np.zeros((self.n, ACTION_FLOATS), np.float32))

    def step(self, actions: NDArray[np.float32]) -> Seen:
        """Step running episodes; reset those that had ended."""
        batch, fresh = self._batch, np.flatnonzero(self._ended)
        running = np.flatnonzero(~self._ended)
        if len(fresh):
            batch.reset([self._next_episode(int(place)) for place in fresh], fresh)
        if len(running):
            batch.step(np.asarray(actions, np.float32)[running], running)
        first = self._ended.copy()
        reward = np.where(first, 0.0, batch.reward).astype(np.float32)
        self._ended = np.where(first, False, batch.outcome != Outcome.RUNNING)
        unused = np.zeros((self.n, ACTION_FLOATS), np.float32)
        terminal = self._ended & np.isin(batch.outcome, self._terminal)
        return Seen(batch.obs.copy(), unused, reward, first, self._ended.copy(), terminal)

    def finished(self) -> list[Finished]:
        """Return how the episodes that just ended went, grouped by blackout length."""
        done = []
        for place in np.flatnonzero(self._ended):
            outcome = Outcome(int(self._batch.outcome[place]))
            figures = {"saved": float(outcome.saved), "conceded": float(outcome == Outcome.GOAL_CONCEDED)}
            done.append(Finished(figures, group_of(int(self._length[place]))))
        return done

    def save(self) -> dict[str, NDArray]:
        """Return the generators, the blackout lengths and a snapshot of every place."""
        snapshots = [self._batch.snapshot(i) for i in range(self.n)]
        sizes = np.array([len(s) for s in snapshots], np.int64)
        draw = json.dumps([draw.bit_generator.state for draw in self._draw]).encode()
        return {
            "draw": np.frombuffer(draw, np.uint8),
            "length": self._length.copy(),
            "ended": self._ended.copy(),
            "snapshot_sizes": sizes,
            "snapshots": np.frombuffer(b"".join(snapshots), np.uint8),
        }

    def restore(self, state: Mapping[str, NDArray]) -> None:
        """Continue every place exactly where `save` found it."""
        for draw, drawn in zip(self._draw, json.loads(bytes(state["draw"])), strict=True):
            draw.bit_generator.state = drawn
        self._length = np.array(state["length"], np.int64)
        self._ended = np.array(state["ended"], bool)
        ends = np.cumsum(state["snapshot_sizes"])
        data = bytes(state["snapshots"])
        for place, (end, size) in enumerate(zip(ends, state["snapshot_sizes"], strict=True)):
            self._batch.restore(place, data[end - size : end])

    def _next_episode(self, place: int) -> Episode:
        draw = self._draw[place * len(self._draw) // self.n]
        shot = self._shots[int(draw.integers(0, len(self._shots)))]
        length = int(draw.integers(0, LONGEST_BLACKOUT + 1))
        self._length[place] = length
        return self._conditions.draw(draw, shot, length)
