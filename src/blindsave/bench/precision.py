"""What a teacher's saves owe to the precision it plays in: its deterministic step by JAX, in float32 and in bfloat16.

The authors' teacher plays in bfloat16, as it trains; ours trains so and plays in float32.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np

from blindsave.learning.dreamer.acting import Acting
from blindsave.learning.dreamer.config import Config, Sizes
from blindsave.learning.dreamer.validate import LENGTHS, inference_config, summarise
from blindsave.policies.closed_loop import ClosedLoop
from blindsave.policies.dreamer import AgentShape
from blindsave.task.episode import Episode
from blindsave.task.results import EpisodeResults

Precision = Literal["float32", "bfloat16"]
PRECISIONS: tuple[Precision, ...] = get_args(Precision)


def in_both(parameters: Mapping[str, np.ndarray], shape: AgentShape, episodes: Sequence[Episode]) -> dict[str, Any]:
    """Saves in each precision over a shot-major grid of `LENGTHS`, and how many episodes ended otherwise as saves."""
    played = {name: play(parameters, shape, episodes, name) for name in PRECISIONS}
    one, other = (played[name].saved for name in PRECISIONS)
    told: dict[str, Any] = {name: summarise(ended, LENGTHS) for name, ended in played.items()}
    return told | {"gained": int((other & ~one).sum()), "lost": int((one & ~other).sum())}


def play(
    parameters: Mapping[str, np.ndarray], shape: AgentShape, episodes: Sequence[Episode], precision: Precision
) -> EpisodeResults:
    """Every episode to its end."""
    config = inference_config(Config(Sizes(**dataclasses.asdict(shape))))
    config = dataclasses.replace(config, speed=dataclasses.replace(config.speed, dtype=precision))
    acting: Any = Acting(_tree(parameters), config)
    loop = ClosedLoop(acting, places=len(episodes))
    loop.begin(acting, list(episodes))
    while len(loop.running):
        loop.act(loop.ask())
    ended = loop.batch
    return EpisodeResults(ended.outcome, ended.steps, ended.first_contact, ended.score)


def _tree(parameters: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Parameters as the learner has them. The spread of actions was not frozen, and the mean does not ask for it."""
    tree: dict[str, Any] = {}
    for name, array in parameters.items():
        *places, last = name.split(".")
        branch = tree
        for place in places:
            branch = branch.setdefault(place, {})
        branch[last] = array
    tree["actor"]["std"] = tree["actor"]["mean"]
    return tree
