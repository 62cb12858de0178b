"""All trained parameters of the agent in one tree, and which of them acting needs."""

from __future__ import annotations

import jax
from jax import Array

from blindsave.learning.dreamer import heads, recurrent
from blindsave.learning.dreamer.config import Sizes
from blindsave.learning.dreamer.nets import Params

ACTING = ("encoder", "dynamics", "actor")


def init(key: Array, s: Sizes) -> Params:
    """Draw fresh parameters: {encoder, dynamics, decoder, reward, continue, actor, critic}."""
    dynamics_key, heads_key = jax.random.split(key)
    return {"dynamics": recurrent.init(dynamics_key, s)} | heads.init(heads_key, s)


def acting_part(params: Params) -> Params:
    """Return the parameters that acting needs: encoder, dynamics without its prior, actor."""
    part = {name: params[name] for name in ACTING}
    part["dynamics"] = {name: p for name, p in params["dynamics"].items() if name != "prior"}
    return part
