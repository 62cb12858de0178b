"""The two compiled calls a run consists of: act on what was just seen, and learn from the replay."""

from __future__ import annotations

import dataclasses
import functools
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from blindsave.learning.dreamer import heads, latents, model, population, recurrent, replay, scan, selectors, update
from blindsave.learning.dreamer.config import Config
from blindsave.learning.dreamer.nets import Params, cast_for_compute
from blindsave.learning.dreamer.stream import Seen

Totals = dict[str, Array]


class Carry(NamedTuple):
    """What acting retains between steps: recurrent state, flat one-hot latent, previous unclipped action."""

    h: Array
    z: Array
    action: Array


def initial(n: int, config: Config) -> Carry:
    """Return the carry of n fresh episodes: zeros."""
    s, dtype = config.sizes, jnp.dtype(config.speed.dtype)
    return Carry(jnp.zeros((n, s.deter), dtype), jnp.zeros((n, s.latent), dtype), jnp.zeros((n, s.action)))


def act(params: Params, carry: Carry, observation: Array, first: Array, key: Array | None, config: Config) -> Carry:
    """Observe and choose actions for n environments; the chosen action is the new carry's `action`.

    With a key, latent and action are sampled (training and the reference's evaluation); without one, the latent is
    its mode and the action its mean. `first` starts an environment's episode from zeros.
    """
    s = config.sizes
    p = cast_for_compute(params, jnp.dtype(config.speed.dtype))
    m = recurrent.prepare(p["dynamics"], s, config.speed.layout)
    noise = uniform = None
    if key is not None:
        latent_key, action_key = jax.random.split(key)
        uniform = jax.random.uniform(latent_key, (observation.shape[0], s.categoricals))
        noise = jax.random.normal(action_key, (observation.shape[0], s.action))
    previous = jnp.where(first[:, None], 0.0, carry.action)
    inputs = recurrent.embed_action(m, previous), recurrent.embed_token(m, heads.encode(p["encoder"], observation))
    how = scan.How(s, config.speed.layout, config.learning.unimix, 1)
    site = recurrent.plain_site(m, s, config.speed.layout)
    (h, z), _ = scan.step(how, site, (carry.h, carry.z), (*inputs, first, uniform))
    policy = heads.act(p["actor"], heads.feature(h, z))
    return Carry(h, z, policy.mean if noise is None else policy.sample(noise))


def act_and_store(
    params: Params, carry: Carry, buffer: replay.Buffer, seen: Seen, key: Array, config: Config
) -> tuple[Carry, replay.Buffer]:
    """Choose actions and append this time step to the replay; where an episode has ended the action is zero."""
    first = jnp.asarray(seen.first)
    carry = act(params, carry, jnp.asarray(seen.observation), first, jax.random.fold_in(key, buffer.clock), config)
    carry = carry._replace(action=jnp.where(jnp.asarray(seen.last)[:, None], 0.0, carry.action))
    z = latents.to_index(carry.z, config.sizes.classes)
    stored = {name: jnp.asarray(value) for name, value in seen._replace(action=carry.action)._asdict().items()}
    new = replay.Transition(**stored, h=carry.h, z=z)
    return carry, replay.insert(buffer, new)


def learn(
    learner: update.Learner, buffer: replay.Buffer, totals: Totals, key: Array, n: Array, config: Config
) -> tuple[update.Learner, replay.Buffer, Totals]:
    """Make `n` gradient updates, each on a fresh batch drawn on the device; adds their figures to `totals`."""

    def one(_: Array, state: tuple[update.Learner, replay.Buffer, Totals]):
        learner, buffer, totals = state
        draw_key, update_key = jax.random.split(jax.random.fold_in(key, learner.moments.made))
        windows, buffer = selectors.draw(buffer, draw_key, config)
        batch = replay.gather(buffer, windows, config)
        learner, posterior, log = update.update(learner, batch, update_key, config)
        buffer = replay.write_back(buffer, windows, posterior.h, posterior.z)
        return learner, buffer, jax.tree.map(jnp.add, totals, log)

    return jax.lax.fori_loop(0, n, one, (learner, buffer, totals))


def zero_totals(learner: update.Learner, buffer: replay.Buffer, config: Config) -> Totals:
    """Return zeros in the shape of the figures one update logs, for every teacher."""

    def log(learner: update.Learner, buffer: replay.Buffer) -> Totals:
        key = jax.random.key(0)
        windows, drawn = selectors.draw(buffer, key, config)
        return update.update(learner, replay.gather(drawn, windows, config), key, config)[2]

    logs = jax.eval_shape(population.mapped(log, config, (0, population.BUFFER_AXES)), learner, buffer)
    return {name: jnp.zeros(v.shape, jnp.float32) for name, v in logs.items()}


class Compiled:
    """The jitted calls of one configuration, for all its teachers; replay, carry and learner are updated in place."""

    @staticmethod
    def of(config: Config) -> Compiled:
        """Return the calls of a configuration; runs in one process that differ only in bookkeeping share them."""
        bookkeeping = {"seed": 0, "checkpoint_every": 1, "log_every": 1, "latents": "never", "timeouts": "truncate"}
        return _compiled(dataclasses.replace(config, training=dataclasses.replace(config.training, **bookkeeping)))

    def __init__(self, config: Config) -> None:
        store, buffer = partial(act_and_store, config=config), population.BUFFER_AXES
        store = population.mapped(store, config, (0, 0, buffer, 0, 0), (0, buffer))
        self.act_and_store = jax.jit(store, donate_argnums=(1, 2))
        improve = population.mapped(partial(learn, config=config), config, (0, buffer, 0, 0, None), (0, buffer, 0))
        self.learn = jax.jit(improve, donate_argnums=(0, 1, 2))


_compiled = functools.cache(Compiled)


def acting_parameters(params: Params) -> dict[str, np.ndarray]:
    """Return the parameters of inference as float32 arrays under flat names.

    Names are paths such as `encoder/layer0/kernel`; kernels are [in, out], block kernels [blocks, in, out]:

    - `encoder/layer{0,1,2}/{kernel,bias,scale}`: 19 (symlog of the observation) -> 64 -> 64 -> 64
    - `dynamics/{deter_in,latent_in,action_in}/{kernel,bias,scale}`: 512, 128 and 2 -> 64
    - `dynamics/hidden/{kernel,bias,scale}`: [8, 256, 64]; input of block g is [h_g, deter, latent, action]
    - `dynamics/gates/{kernel,bias}`: [8, 64, 192]; a block's outputs are reset, candidate, update
    - `dynamics/posterior/layer0/{kernel,bias,scale}`: [h, token] 576 -> 64; `dynamics/posterior/out`: 64 -> 128
    - `actor/layer{0,1,2}/{kernel,bias,scale}`: [h, z] 640 -> 64 -> 64 -> 64; `actor/mean`, `actor/std`: 64 -> 2
    """
    from blindsave.learning.dreamer.tensorfile import flatten

    return {name: np.asarray(leaf, np.float32) for name, leaf in flatten(model.acting_part(params)).items()}
