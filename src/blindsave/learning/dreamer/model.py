"""All trained parameters of the agent in one tree, and which of them acting needs."""

from __future__ import annotations

import jax
from jax import Array

from blindsave.learning.dreamer import heads, recurrent
from blindsave.learning.dreamer.config import Sizes
from blindsave.learning.dreamer.nets import Params, count

ACTING = ("encoder", "dynamics", "actor")


def init(key: Array, s: Sizes) -> Params:
    """Draw fresh parameters: {encoder, dynamics, decoder, reward, continue, actor, critic}."""
    dynamics_key, heads_key = jax.random.split(key)
    return {"dynamics": recurrent.init(dynamics_key, s)} | heads.init(heads_key, s)


def parameter_counts(params: Params) -> dict[str, int]:
    """Count the parameters of each module and of all together (`total`)."""
    counts = {name: count(part) for name, part in params.items()}
    return counts | {"total": sum(counts.values())}


def acting_part(params: Params) -> Params:
    """Return the parameters that acting needs: encoder, dynamics without its prior, actor."""
    part = {name: params[name] for name in ACTING}
    part["dynamics"] = {name: p for name, p in params["dynamics"].items() if name != "prior"}
    return part
