"""Everything that reads or writes outside the recurrent state: encoder, decoder, reward, continue, actor, critic."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from blindsave.learning.dreamer.config import Sizes
from blindsave.learning.dreamer.nets import Params, init_linear, init_mlp, linear, mlp
from blindsave.learning.dreamer.twohot import symlog

MIN_STD = 0.1
MAX_STD = 1.0


def init(key: Array, s: Sizes) -> Params:
    """Create all heads. Reward and critic start at exactly zero; the actor starts almost uniform."""
    keys = iter(jax.random.split(key, 12))

    def head(n_in: int, layers: int, n_out: int, scale: float) -> Params:
        return init_mlp(next(keys), n_in, s.units, layers) | {"out": init_linear(next(keys), s.units, n_out, scale)}

    actor = init_mlp(next(keys), s.feature, s.units, s.actor_layers)
    actor["mean"] = init_linear(next(keys), s.units, s.action, 0.01)
    actor["std"] = init_linear(next(keys), s.units, s.action, 0.01)
    return {
        "encoder": init_mlp(next(keys), s.observation, s.units, s.encoder_layers),
        "decoder": head(s.feature, s.decoder_layers, s.observation, 1.0),
        "reward": head(s.feature, s.reward_layers, s.bins, 0.0),
        "continue": head(s.feature, s.continue_layers, 1, 1.0),
        "actor": actor,
        "critic": head(s.feature, s.critic_layers, s.bins, 0.0),
    }


def encode(p: Params, observation: Array) -> Array:
    """Return the token of each observation; symlog runs in float32."""
    x = symlog(observation.astype(jnp.float32))
    return mlp(p, x.astype(p["layer0"]["kernel"].dtype))


def feature(h: Array, z: Array) -> Array:
    """Join recurrent state and latent into what every head but the decoder reads."""
    return jnp.concatenate([h, z], -1)


def decode(p: Params, h: Array, z: Array) -> Array:
    """Return the predicted observation in symlog space; the decoder reads [z, h]."""
    return output(p, jnp.concatenate([z, h], -1))


def output(p: Params, x: Array) -> Array:
    """Run a head with one output map and return float32."""
    return linear(p["out"], mlp(p, x)).astype(jnp.float32)


class Normal(NamedTuple):
    """Independent normals with bounded parameters, one per action dimension."""

    mean: Array
    std: Array

    def sample(self, noise: Array) -> Array:
        """Turn standard normal noise into unclipped actions."""
        return self.mean + self.std * noise

    def log_density(self, x: Array) -> Array:
        """Return the log density summed over the action dimensions."""
        scaled = (x - self.mean) / self.std
        return jnp.sum(-0.5 * scaled * scaled - jnp.log(self.std) - 0.5 * jnp.log(2 * jnp.pi), -1)

    def entropy(self) -> Array:
        """Return the entropy summed over the action dimensions."""
        return jnp.sum(0.5 * jnp.log(2 * jnp.pi * jnp.e) + jnp.log(self.std), -1)


def act(p: Params, feat: Array) -> Normal:
    """Return the actor's distribution: mean in (-1, 1), standard deviation in (0.1, 1)."""
    x = mlp(p, feat)
    mean = jnp.tanh(linear(p["mean"], x).astype(jnp.float32))
    spread = jax.nn.sigmoid(linear(p["std"], x).astype(jnp.float32) + 2.0)
    return Normal(mean, MIN_STD + (MAX_STD - MIN_STD) * spread)
