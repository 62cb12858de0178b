"""The defence task as a Gymnasium environment: `gymnasium.make("blindsave/Defend-v0")`."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import Space
from gymnasium.spaces import Box
from numpy.typing import NDArray

from blindsave.arena.simulator import Backend
from blindsave.errors import BadInput
from blindsave.task.conditions import CLEAN_NAME
from blindsave.task.defend import DefendBatch
from blindsave.task.episode import Episode
from blindsave.task.interface import ACTION_FLOATS, OBSERVATION_FLOATS, VISIBLE
from blindsave.task.mixture import Conditions, Mixture
from blindsave.task.outcomes import Outcome
from blindsave.task.sampling import UNIFORM, Blackout, Sampler

Observation = NDArray[np.float32]
METADATA = {"render_modes": ["rgb_array", "human"], "render_fps": 50}


def observation_space() -> Space[Any]:
    """All that a policy may see: 18 numbers in [-1, 1] and the visible flag."""
    low = np.full(OBSERVATION_FLOATS, -1.0, np.float32)
    low[VISIBLE] = 0.0
    return Box(low, np.ones(OBSERVATION_FLOATS, np.float32), dtype=np.float32)


def action_space() -> Space[Any]:
    """A normalised mallet target, x and y."""
    return Box(-1.0, 1.0, (ACTION_FLOATS,), np.float32)


class DefendEnv(gymnasium.Env[Observation, NDArray[np.float32]]):
    """One goalkeeper, one shot at a time.

    `split` names the shots, `blackout` is a length in control steps, a range (both ends included) or a table of
    lengths and probabilities; `condition` is what else happens (docs/conditions.md): a name such as "noise_5mm", a list
    of names, or a table of names and shares. `reset(seed=...)` restarts the generator that draws the shot, then the
    length; `reset(options={"shot": id or (x, y, vx, vy), "blackout": steps})` chooses them. A pickled or copied
    environment goes on where the original stood, on the same machine bit for bit; a window stays with the original.
    """

    metadata: dict[str, Any] = METADATA  # pyright: ignore[reportIncompatibleVariableOverride]

    def __init__(
        self,
        split: str = "train",
        blackout: Blackout = UNIFORM,
        condition: Conditions = CLEAN_NAME,
        render_mode: str | None = None,
        backend: Backend = "auto",
    ) -> None:
        if render_mode is not None and render_mode not in METADATA["render_modes"]:
            raise BadInput(f"render_mode must be one of {', '.join(METADATA['render_modes'])}, got {render_mode!r}")
        self.render_mode = render_mode
        self.observation_space, self.action_space = observation_space(), action_space()
        self._sampler = Sampler(split, blackout, Mixture.of(condition))
        self._batch = DefendBatch(1, threads=1, backend=backend)
        self._episode: Episode | None = None
        self._window: Any = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start the next episode."""
        super().reset(seed=seed)
        self._episode = self._sampler.draw(self.np_random, options)
        self._batch.reset([self._episode])
        self._show()
        return self._batch.obs[0].copy(), self._info()

    def step(self, action: NDArray[np.float32]) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Run one control step of 20 ms."""
        if np.shape(action) != (ACTION_FLOATS,):
            raise BadInput(f"an action must have shape ({ACTION_FLOATS},), got {np.shape(action)}")
        self._batch.step(np.asarray(action, np.float32)[None])
        self._show()
        outcome = Outcome(self._batch.outcome[0])
        ended = outcome is not Outcome.RUNNING
        obs, reward = self._batch.obs[0].copy(), float(self._batch.reward[0])
        return obs, reward, ended and not outcome.timed_out, outcome.timed_out, self._info()

    def render(self) -> NDArray[np.uint8] | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return a picture (`rgb_array`), or nothing (`human`, which shows itself at every step)."""
        if self._episode is None:
            raise BadInput("there is nothing to render before the first reset")
        if self.render_mode != "rgb_array":
            return None
        from blindsave.draw.pictures import render_qpos

        return render_qpos(self._batch.qpos[0].copy())

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None

    @property
    def episode(self) -> Episode:
        """The running episode, for the experimenter."""
        if self._episode is None:
            raise BadInput("there is no episode before the first reset")
        return self._episode

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the window; the batch knows how to keep itself."""
        return {**self.__dict__, "_window": None}

    def privileged_state(self) -> NDArray[np.float64]:
        """Return the puck's true x, y, vx, vy in the robot frame. For evaluation: no policy may see this."""
        return self._batch.truth[0].copy()

    def _info(self) -> dict[str, Any]:
        info: dict[str, Any] = {
            "shot": self.episode.shot.id,
            "step": int(self._batch.steps[0]),
            "visible": bool(self._batch.visible[0]),
            "locked": bool(self._batch.locked[0]),
        }
        outcome = Outcome(self._batch.outcome[0])
        if outcome is not Outcome.RUNNING:
            info["outcome"] = outcome.label
        return info

    def _show(self) -> None:
        if self.render_mode != "human":
            return
        if self._window is None:
            from blindsave.draw.window import Window

            self._window = Window()
        self._window.show(self._batch.qpos[0])
