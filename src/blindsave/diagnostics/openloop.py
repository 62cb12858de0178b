"""What the world model believes about a puck it cannot see: imagine on from the last visible observation.

The decoder reconstructs observations, and a hidden puck is observed as zeros; so among many imagined futures
those count in which the puck is visible. Blackouts end at random times, hence at every step some of them show it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from blindsave.learning.dreamer import agent, heads, latents, recurrent
from blindsave.learning.dreamer.acting import Acting
from blindsave.learning.dreamer.config import Config
from blindsave.learning.dreamer.nets import Params, cast_for_compute
from blindsave.learning.dreamer.twohot import symexp
from blindsave.learning.dreamer.validate import inference_config
from blindsave.policies.closed_loop import ClosedLoop
from blindsave.task.episode import Episode
from blindsave.task.interface import PUCK, VISIBLE, puck_m
from blindsave.task.tracking import BLACKOUT_START

SEEN_AT_LEAST = 0.5


class Prediction(NamedTuple):
    """Open-loop predictions of one episode over the steps after the last visible observation, robot frame, metres.

    `truth`, `mean` and `std` are [steps, 2]; `share` is the fraction of imagined futures that show the puck (where it
    is 0, mean and std are NaN).
    """

    first_step: int
    truth: NDArray[np.float64]
    mean: NDArray[np.float64]
    std: NDArray[np.float64]
    share: NDArray[np.float64]

    @property
    def error_mm(self) -> NDArray[np.float64]:
        """Distance between predicted mean and truth per step."""
        return 1e3 * np.linalg.norm(self.mean - self.truth, axis=-1)


def predict(
    params: Params, config: Config, episodes: Sequence[Episode], *, futures: int = 512, steps: int = 20, seed: int = 0
) -> list[Prediction]:
    """Play episodes deterministically; at the blackout's onset, imagine `futures` futures under the same actions."""
    config = inference_config(config)
    n = len(episodes)
    acting: Any = Acting(params, config)
    loop = ClosedLoop(acting, episodes)
    batch = loop.batch
    onset, actions, truth = None, [], [batch.truth[:, :2].copy()]
    with jax.default_matmul_precision("highest"):
        for t in range(BLACKOUT_START + steps - 1):
            loop.act(loop.ask())
            if t == BLACKOUT_START - 1:
                onset = loop.carry[1]
            actions.append(np.asarray(loop.carry[1].action))
            truth.append(batch.truth[:, :2].copy())
        assert onset is not None
        taken = jnp.asarray(np.stack(actions[BLACKOUT_START - 1 :]))
        dream = jax.jit(partial(_dream, config=config, futures=futures))
        decoded = np.asarray(dream(params, onset, taken, jax.random.key(seed)))
    true, until = np.stack(truth)[BLACKOUT_START:], batch.steps + 1 - BLACKOUT_START
    return [_collect(decoded[:, i], true[:, i], int(until[i])) for i in range(n)]


def _dream(params: Params, onset: agent.Carry, actions: Array, key: Array, config: Config, futures: int) -> Array:
    """Return decoded observations [steps, episodes, futures, size] of the prior under given actions."""
    s = config.sizes
    p = cast_for_compute(params, jnp.float32)
    m = recurrent.prepare(p["dynamics"], s, config.speed.layout)
    site = recurrent.plain_site(m, s, config.speed.layout)
    n = onset.h.shape[0]
    spread = lambda a: jnp.repeat(a, futures, 0)  # noqa: E731

    def step(state: tuple[Array, Array], x: tuple[Array, Array]):
        action, uniform = x
        h = recurrent.advance(site, s, *state, recurrent.embed_action(m, spread(action)))
        logits = recurrent.prior(p["dynamics"]["prior"], h)
        z = latents.sample(logits, s.classes, config.learning.unimix, uniform)
        return (h, z), symexp(heads.decode(p["decoder"], h, z)).reshape(n, futures, -1)

    uniform = jax.random.uniform(key, (actions.shape[0], n * futures, s.categoricals))
    return jax.lax.scan(step, (spread(onset.h), spread(onset.z)), (actions, uniform))[1]


def _collect(decoded: NDArray, truth: NDArray, length: int) -> Prediction:
    """Average over the futures in which the puck is visible."""
    means, stds, shares = [], [], []
    for futures in decoded[:length]:
        shown = futures[futures[:, VISIBLE] > SEEN_AT_LEAST]
        puck = puck_m(shown[:, PUCK])
        means.append(puck.mean(0) if len(puck) else np.full(2, np.nan))
        stds.append(puck.std(0) if len(puck) else np.full(2, np.nan))
        shares.append(len(puck) / len(futures))
    return Prediction(BLACKOUT_START, truth[:length], np.array(means), np.array(stds), np.array(shares))
