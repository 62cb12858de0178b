"""Random parameters and a toy environment for the tests of the agent. NumPy draws, so that nothing need compile."""

import json

import jax
import numpy as np

from blindsave.learning.dreamer import model
from blindsave.learning.dreamer.config import Sizes
from blindsave.learning.dreamer.stream import Finished, Seen

SMALL = Sizes(5, 2, deter=12, hidden=6, categoricals=3, classes=4, blocks=3, units=7, bins=31)


def random_params(sizes, seed):
    """Return parameters without zeros or symmetries, so that every one of them has something to say."""
    rng = np.random.default_rng(seed)
    shapes = jax.eval_shape(lambda: model.init(jax.random.key(0), sizes))

    def draw(path, leaf):
        centre = 1.0 if path[-1].key == "scale" else 0.0
        if leaf.shape == (sizes.bins,):  # keep two-hot predictions near zero: the outer bins are astronomical
            centre = -2.0 * np.abs(np.arange(sizes.bins) - sizes.bins // 2)
        fan_in = np.prod(leaf.shape[:-1]) if leaf.ndim > 1 else 10.0
        noise = rng.normal(size=leaf.shape) / np.sqrt(fan_in) + 0.1 * rng.normal(size=leaf.shape)
        if path[0].key == "dynamics" and path[-2].key == "out":  # posterior and prior should disagree
            noise *= 4
        return np.asarray(centre + noise, np.float32)

    return jax.tree_util.tree_map_with_path(draw, shapes)


class Recall:
    """A memory task: a cue is shown at the first step only, but every action should have its sign."""

    observation_size = 2
    action_size = 1

    def __init__(self, n, delay=3, seed=0):
        self.n, self.delay = n, delay
        self.rng = np.random.default_rng(seed)
        self.t = np.full(n, delay)
        self.cue, self.reward = np.zeros(n), np.zeros(n)

    def reset(self):
        return self.step(np.zeros((self.n, 1), np.float32))

    def step(self, actions):
        first = self.t == self.delay
        self.cue = np.where(first, self.rng.choice([-1.0, 1.0], self.n), self.cue)
        self.t = np.where(first, 0, self.t + 1)
        last = self.t == self.delay
        self.reward = np.where(first, 0.0, self.cue * np.clip(actions[:, 0], -1, 1))
        shown = np.stack([np.where(first, self.cue, 0), self.t / self.delay], 1).astype(np.float32)
        return Seen(shown, np.zeros((self.n, 1), np.float32), self.reward.astype(np.float32), first, last, last)

    def finished(self):
        return [Finished({"saved": float(self.reward[i] > 0)}) for i in np.flatnonzero(self.t == self.delay)]

    def save(self):
        draw = np.frombuffer(json.dumps(self.rng.bit_generator.state).encode(), np.uint8)
        return {"t": self.t.copy(), "cue": self.cue.copy(), "reward": self.reward.copy(), "draw": draw}

    def restore(self, state):
        self.t, self.cue, self.reward = (np.array(state[name]) for name in ("t", "cue", "reward"))
        self.rng.bit_generator.state = json.loads(bytes(state["draw"]))
