"""The defence task as Stable-Baselines3 wants to see it: one `VecEnv` over one compiled batch of episodes."""

# pyright: reportMissingImports=false
# (Types are checked without the extra `ppo`, too.)

from collections.abc import Sequence
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from stable_baselines3.common.vec_env.base_vec_env import VecEnv

from blindsave.errors import BlindsaveError
from blindsave.policies.base import ACTION_FLOATS, OBSERVATION_FLOATS
from blindsave.task.defend import DefendBatch
from blindsave.task.episode import Episode
from blindsave.task.outcomes import Outcome
from blindsave.task.sampling import Sampler

SAMPLING_SEED = 12303
BLACKOUTS = {0: 0.5, 5: 0.125, 10: 0.125, 15: 0.125, 20: 0.125}
"""Blackout lengths of training episodes with their probabilities."""
EPISODES = Sampler("train", BLACKOUTS)


class Finished(NamedTuple):
    """How one training episode ended."""

    blackout: int
    outcome: Outcome
    steps: int
    score: float


class DefendVecEnv(VecEnv):
    """Places with their own episode generators: place i draws from a generator seeded 12303 + 8 seed + i.

    Every reset draws a shot, then a blackout length, from the place's generator; `seed` of the base class changes
    nothing, for the study's seeds are fixed at construction. A finished place starts its next episode at once; its
    last observation is in `terminal_observation`, and running out of time is a truncation. `finished` collects the
    endings until somebody empties it.
    """

    def __init__(self, seed: int, places: int = 8, sampler: Sampler = EPISODES) -> None:
        self.sampler = sampler
        self.batch = DefendBatch(places, threads=1)
        self.generators = [np.random.default_rng(SAMPLING_SEED + 8 * seed + i) for i in range(places)]
        self.blackouts = [0] * places
        self.finished: list[Finished] = []
        self._actions = np.zeros((places, ACTION_FLOATS), np.float32)
        super().__init__(
            places,
            gym.spaces.Box(-1.0, 1.0, (OBSERVATION_FLOATS,), np.float32),
            gym.spaces.Box(-1.0, 1.0, (ACTION_FLOATS,), np.float32),
        )

    def sample(self, place: int) -> Episode:
        """Draw the place's next episode: the shot first, then its blackout."""
        episode = self.sampler.draw(self.generators[place])
        self.blackouts[place] = int((~episode.tracking.visible).sum())
        return episode

    def reset(self) -> np.ndarray:
        """Start a new episode everywhere."""
        self.batch.reset([self.sample(place) for place in range(self.num_envs)])
        return self.batch.obs.copy()

    def step_async(self, actions: np.ndarray) -> None:
        """Keep the actions for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Step every place; finished ones report their end and begin again."""
        batch = self.batch
        batch.step(self._actions)
        rewards, dones = batch.reward.astype(np.float32), batch.outcome != 0
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        ended = np.flatnonzero(dones)
        for place in ended:
            infos[place] = self._close(int(place))
        if len(ended):
            batch.reset([self.sample(int(place)) for place in ended], ended)
        return batch.obs.copy(), rewards, dones, infos

    def _close(self, place: int) -> dict[str, Any]:
        outcome = Outcome(int(self.batch.outcome[place]))
        if outcome.faulty:
            raise BlindsaveError(f"the simulation broke in training place {place}: {outcome.label}")
        score, steps = float(self.batch.score[place]), int(self.batch.steps[place])
        self.finished.append(Finished(self.blackouts[place], outcome, steps, score))
        return {
            "terminal_observation": self.batch.obs[place].copy(),
            "TimeLimit.truncated": outcome.timed_out,
            "episode": {"r": score, "l": steps},
            "is_success": outcome.saved,
        }

    def close(self) -> None:
        """Nothing to close: the batch is memory only."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """All places share this object's attributes."""
        return [getattr(self, attr_name, None) if attr_name == "render_mode" else getattr(self, attr_name)] * len(
            self._places(indices)
        )

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refuse: a place has no attributes of its own."""
        raise NotImplementedError("the places of a DefendVecEnv have no attributes of their own")

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Refuse: a place is not an environment object."""
        raise NotImplementedError("the places of a DefendVecEnv have no methods of their own")

    def env_is_wrapped(self, wrapper_class: type[gym.Wrapper], indices: Any = None) -> list[bool]:
        """No place is wrapped in anything."""
        return [False] * len(self._places(indices))

    def _places(self, indices: Any) -> Sequence[int]:
        return list(self._get_indices(indices))
