"""An agent as a policy for the closed loop: compiled once, asked about all episodes at every step."""

from __future__ import annotations

import functools
from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import jax
import numpy as np
from numpy.typing import NDArray

from blindsave.errors import BadInput
from blindsave.learning.dreamer import agent
from blindsave.learning.dreamer.config import Config
from blindsave.learning.dreamer.nets import Params

Mode = Literal["deterministic", "sampled"]
MODES: tuple[Mode, ...] = ("deterministic", "sampled")
Carry = tuple[int, agent.Carry]
"""Which step comes next, and what the agent retains."""


class Acting:
    """Parameters at play. `deterministic` takes the most probable latent and the mean action; `sampled` draws both."""

    name, whole_batch = "agent", True

    def __init__(self, params: Params, config: Config, mode: Mode = "deterministic", seed: int = 0) -> None:
        if mode not in MODES:
            raise BadInput(f"mode must be one of {', '.join(MODES)}, got {mode!r}")
        self._params, self._config, self._act = jax.device_put(params), config, _compiled(config)
        self._key = jax.random.key(seed) if mode == "sampled" else None

    def initial(self, n: int) -> Any:
        """Fresh episodes."""
        return 0, agent.initial(n, self._config)

    def step(self, carry: Any, observation: NDArray[np.float32]) -> tuple[Any, NDArray[np.float32]]:
        """Rows of observations to rows of actions, which the environment clips."""
        t, before = carry
        key = None if self._key is None else jax.random.fold_in(self._key, t)
        with jax.default_matmul_precision("highest"):
            after = self._act(self._params, before, observation, np.full(len(observation), t == 0), key)
        return (t + 1, after), np.asarray(after.action)


@functools.lru_cache(maxsize=2)
def _compiled(config: Config) -> Callable[..., agent.Carry]:
    return jax.jit(partial(agent.act, config=config))
