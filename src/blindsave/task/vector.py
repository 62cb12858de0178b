"""Many goalkeepers at once on the compiled core: `gymnasium.make_vec("blindsave/Defend-v0", num_envs=64)`."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from blindsave.arena.simulator import Backend
from blindsave.errors import BadInput
from blindsave.task.conditions import CLEAN_NAME
from blindsave.task.defend import DefendBatch
from blindsave.task.env import METADATA, action_space, observation_space
from blindsave.task.episode import Episode
from blindsave.task.interface import ACTION_FLOATS
from blindsave.task.mixture import Conditions, Mixture
from blindsave.task.outcomes import Outcome
from blindsave.task.sampling import UNIFORM, Blackout, Sampler

TIMEOUTS = [int(outcome) for outcome in Outcome if outcome.timed_out]
VECTOR_METADATA = {**METADATA, "autoreset_mode": AutoresetMode.NEXT_STEP}
Step = tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]


class DefendVectorEnv(VectorEnv):
    """`num_envs` copies of `DefendEnv`, stepped together.

    Copy i behaves exactly as a single environment with its own seed: `reset(seed=s)` seeds copy i with s + i. A copy
    whose episode has ended starts its next one at the next `step`, which ignores its action and gives reward 0
    (Gymnasium's next-step autoreset). Pickles and copies go on where the original stood.
    """

    metadata: dict[str, Any] = VECTOR_METADATA

    def __init__(
        self,
        num_envs: int = 1,
        split: str = "train",
        blackout: Blackout = UNIFORM,
        condition: Conditions = CLEAN_NAME,
        render_mode: str | None = None,
        threads: int | None = None,
        backend: Backend = "auto",
    ) -> None:
        if render_mode not in (None, "rgb_array"):
            raise BadInput(f"many environments can only be rendered as rgb_array, not as {render_mode!r}")
        self.num_envs, self.render_mode = num_envs, render_mode
        self._sampler = Sampler(split, blackout, Mixture.of(condition))
        self._batch = DefendBatch(num_envs, threads=threads, backend=backend)
        self.single_observation_space, self.single_action_space = observation_space(), action_space()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._generators = [np.random.default_rng() for _ in range(num_envs)]
        self._shots = np.full(num_envs, None, object)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Start an episode in every environment; options are those of `DefendEnv.reset`, for all of them."""
        for i, one in enumerate(self._seeds(seed)):
            if one is not None:
                self._generators[i] = np.random.default_rng(one)
        self._start(np.arange(self.num_envs), options)
        return self._batch.obs.copy(), self._infos()

    def step(self, actions: NDArray[np.float32]) -> Step:
        """Run one control step; environments that ended before start anew instead."""
        if np.shape(actions) != (self.num_envs, ACTION_FLOATS):
            raise BadInput(f"actions must have shape ({self.num_envs}, {ACTION_FLOATS}), got {np.shape(actions)}")
        if (self._batch.outcome < 0).any():
            raise BadInput("reset the environments before the first step")
        running = self._batch.outcome == Outcome.RUNNING
        live, over = np.flatnonzero(running), np.flatnonzero(~running)
        if len(live):
            self._batch.step(np.asarray(actions, np.float32)[live], live)
        if len(over):
            self._start(over, None)
        outcome = self._batch.outcome
        truncated = np.isin(outcome, TIMEOUTS)
        terminated = (outcome != Outcome.RUNNING) & ~truncated
        return self._batch.obs.copy(), self._batch.reward.copy(), terminated, truncated, self._infos()

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return one picture per environment."""
        if self.render_mode is None:
            return None
        from blindsave.draw.pictures import render_qpos

        return tuple(render_qpos(qpos.copy()) for qpos in self._batch.qpos)

    def privileged_state(self) -> NDArray[np.float64]:
        """Return the pucks' true x, y, vx, vy in the robot frame, (num_envs, 4). For evaluation only."""
        return self._batch.truth.copy()

    def _seeds(self, seed: int | Sequence[int | None] | None) -> Sequence[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, int | np.integer):
            return [int(seed) + i for i in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise BadInput(f"{self.num_envs} environments need as many seeds, got {len(seed)}")
        return seed

    def _start(self, ids: NDArray[np.int_], options: dict[str, Any] | None) -> None:
        episodes: list[Episode] = [self._sampler.draw(self._generators[i], options) for i in ids]
        self._batch.reset(episodes, ids)
        for i, episode in zip(ids, episodes, strict=True):
            self._shots[i] = episode.shot.id

    def _infos(self) -> dict[str, Any]:
        """Same contents as the single environment's info, as arrays with masks."""
        everywhere = np.ones(self.num_envs, np.bool_)
        values = {
            "shot": self._shots.copy(),
            "step": self._batch.steps.astype(np.int64),
            "visible": self._batch.visible.copy(),
            "locked": self._batch.locked.copy(),
        }
        infos: dict[str, Any] = {**values, **{f"_{name}": everywhere.copy() for name in values}}
        ended = self._batch.outcome != Outcome.RUNNING
        if np.any(ended):
            labels = [Outcome(code).label if code else None for code in self._batch.outcome]
            infos["outcome"], infos["_outcome"] = np.array(labels, object), np.asarray(ended)
        return infos
