"""How fast training is: gradient updates per second at full batch, for several layouts of the same arithmetic.

For a population, updates of all its teachers are counted.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import time
from collections.abc import Sequence
from functools import partial
from statistics import median
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from blindsave.errors import BadInput
from blindsave.learning.dreamer import agent, replay, update
from blindsave.learning.dreamer import population as teachers
from blindsave.learning.dreamer.config import Config, Sizes, Speed, Training
from blindsave.learning.dreamer.runtime import device
from blindsave.learning.dreamer.stream import Seen
from blindsave.task.interface import ACTION_FLOATS, OBSERVATION_FLOATS

EPISODE_STEPS = 40
CHANGES: dict[str, dict[str, Any]] = {
    "best": {},
    "float32": {"dtype": "float32"},
    "bfloat16": {"dtype": "bfloat16"},
    "grouped": {"layout": "grouped"},
    "dense": {"layout": "dense"},
    "not_deferred": {"deferred": False},
    "not_unrolled": {"unroll": 1, "imagination_unroll": 1},
    "unroll_2": {"unroll": 2},
    "unroll_8": {"unroll": 8, "imagination_unroll": 5},
    "unroll_16": {"unroll": 16, "imagination_unroll": 15},
    "plain": {"deferred": False, "unroll": 1, "imagination_unroll": 1, "layout": "grouped", "dtype": "float32"},
}


def filled_replay(config: Config) -> replay.Buffer:
    """Return a full replay of random transitions in episodes of forty steps."""
    n, length = config.training.envs, replay.slots(config)
    s = config.sizes
    rng = np.random.default_rng(0)
    first = np.broadcast_to(np.arange(length) % EPISODE_STEPS == 0, (n, length))
    last = np.broadcast_to(np.arange(length) % EPISODE_STEPS == EPISODE_STEPS - 1, (n, length))
    streams = {
        "observation": jnp.asarray(rng.uniform(-1, 1, (n, length, s.observation)), jnp.float32),
        "action": jnp.asarray(rng.normal(size=(n, length, s.action)), jnp.float32),
        "reward": jnp.asarray(np.where(last, rng.choice([-1.0, 1.2], (n, length)), 0.0), jnp.float32),
        "first": jnp.asarray(first),
        "last": jnp.asarray(last),
        "terminal": jnp.asarray(last),
    }
    return replay.create(config)._replace(
        **teachers.copies(streams, config),
        clock=jnp.int32(length),
        online_used=jnp.int32(n * ((length - 1) // config.learning.window)),
    )


class Bench:
    """One variant: compiles on creation, then makes timed calls of `per_call` updates of every teacher."""

    def __init__(self, config: Config, per_call: int) -> None:
        self.config, self.per_call = config, per_call
        init_key, self.learn_key, self.act_key = teachers.split_keys(config, 3)
        self.learner = jax.jit(teachers.mapped(partial(update.init, config=config), config))(init_key)
        self.buffer = filled_replay(config)
        self.totals = agent.zero_totals(self.learner, self.buffer, config)
        self.compiled = agent.Compiled.of(config)
        self.compile_s = self.call()

    def call(self) -> float:
        """Make one call of several updates and wait for it; returns seconds."""
        begun = time.perf_counter()
        self.learner, self.buffer, self.totals = self.compiled.learn(
            self.learner, self.buffer, self.totals, self.learn_key, np.int32(self.per_call)
        )
        jax.block_until_ready(self.totals)
        return time.perf_counter() - begun

    def act_ms(self, calls: int = 30) -> float:
        """Return the median time from host observation to host action, storing included."""
        n, s = self.config.training.envs, self.config.sizes
        flags, like = np.zeros(n, bool), np.zeros(n, np.float32)
        blank = np.zeros((n, s.observation), np.float32), np.zeros((n, s.action), np.float32)
        seen = jax.tree.map(np.asarray, teachers.copies(Seen(*blank, like, flags, flags, flags), self.config))
        carry, times = teachers.copies(agent.initial(n, self.config), self.config), []
        for _ in range(calls):
            begun = time.perf_counter()
            carry, self.buffer = self.compiled.act_and_store(
                self.learner.params, carry, self.buffer, seen, self.act_key
            )
            np.asarray(carry.action)
            times.append(time.perf_counter() - begun)
        return 1e3 * median(times[1:])


def bench(
    variants: Sequence[str] = ("best", "plain"),
    *,
    observation: int = OBSERVATION_FLOATS,
    action: int = ACTION_FLOATS,
    envs: int = 32,
    population: int = 1,
    speed: dict[str, Any] | None = None,
    stored: int = 100_000,
    per_call: int = 10,
    rounds: int = 5,
    report: Any = None,
) -> dict[str, Any]:
    """Measure the variants in turn, round by round, so that a slow phase of the machine hits all alike."""
    unknown = [name for name in variants if name not in CHANGES]
    if unknown:
        raise BadInput(f"unknown variant {unknown[0]!r}; there are {', '.join(CHANGES)}")
    base = dataclasses.replace(Speed.best(jax.default_backend()), **(speed or {}))
    training = Training(steps=stored, envs=envs, population=population)
    made = per_call * population
    benches: dict[str, Bench] = {}
    for name in variants:
        config = Config(Sizes(observation, action), training=training)
        varied = dataclasses.replace(base, **CHANGES[name])
        one = benches[name] = Bench(dataclasses.replace(config, speed=varied), per_call)
        if report:
            report(f"{name}: compiled in {one.compile_s:.1f} s; {made / one.call():.1f} updates/s")
    times: dict[str, list[float]] = {name: [] for name in benches}
    for _ in range(rounds):
        for name, one in benches.items():
            times[name].append(one.call())
    rates = {name: made / median(seconds) for name, seconds in times.items()}
    first = next(iter(rates))
    return {
        "what": "teacher",
        "batch": [benches[first].config.learning.batch, benches[first].config.learning.length],
        "updates_per_s": rates[first],
        "variants": {
            name: {
                "updates_per_s": rate,
                "ratio_to_first": rate / rates[first],
                "best_updates_per_s": made / min(times[name]),
                "compile_s": benches[name].compile_s,
                "speed": dataclasses.asdict(benches[name].config.speed),
            }
            for name, rate in rates.items()
        },
        "act_ms": benches[first].act_ms(),
        "environments": envs,
        "population": population,
        "updates_per_call": per_call,
        **device(),
    }


if __name__ == "__main__":  # also for machines without tyro: python -m blindsave.bench.teacher '{"population": 8}'
    print(json.dumps(bench(**json.loads(sys.argv[1] if len(sys.argv) > 1 else "{}"))))
