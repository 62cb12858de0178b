"""A small causal transformer over the episode: one head looks back at everything seen and done since the start.

    q, k, v = W [e, a] + b
    out = sum over past steps i of softmax(s_i) v_i,   s_i = B tanh((q . k_i + r_i) / B)

with r_i a learned preference for how long ago i was, and B a bound that keeps the exponential finite: without one a
training may run away. The memory is the record itself: keys and values of all steps, the
newest last, and which of them are filled; only `out` is shown to the head. Nothing is forgotten, nothing is summed up,
and it takes thousands of floats where a recurrent memory takes tens.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from blindsave.policies.base import ACTION_FLOATS
from blindsave.policies.students.core import MemoryCore, Parameters, glorot, zeros
from blindsave.task.outcomes import TIMEOUT_STEPS

STEPS = TIMEOUT_STEPS + 1
"""Observations of the longest episode."""
BOUND = 10.0
"""Scores lie between this and its negative."""
NEVER = 40.0
"""By how much a step's score is lowered that has not been: below all others, and still a float32 after `exp`."""


@dataclass(frozen=True)
class Attention(MemoryCore):
    """Keys and values of `width` floats each, for every step of an episode."""

    width: int = 8

    @property
    def memory(self) -> int:
        """What the head is shown; then all keys, all values, and which steps have been."""
        return self.width + (2 * self.width + 1) * STEPS

    @property
    def shown(self) -> int:
        """What was attended to."""
        return self.width

    def init(self, rng: np.random.Generator, seed: int) -> Parameters:
        """Query, key and value as one matrix; no preference among the past at first."""
        return {
            "W": glorot(rng, 3 * self.width, self.code + ACTION_FLOATS),
            "b": zeros(3 * self.width),
            "ago": zeros(STEPS),
        }

    def drive(self, ops: Any, p: Any, code: Any, action: Any) -> tuple[Any, ...]:
        """Query, key and value of this step."""
        return (ops.linear(ops.concat(code, action), p["W"], p["b"]),)

    def advance(self, ops: Any, p: Any, memory: Any, drive: tuple[Any, ...]) -> Any:
        """Append key and value to the record, then look back with the query."""
        n, new, room = self.width, drive[0], self.width * STEPS
        keys, values, been = (
            memory[..., n : n + room],
            memory[..., n + room : n + 2 * room],
            memory[..., n + 2 * room :],
        )
        keys = ops.concat(keys[..., n:], new[..., n : 2 * n])
        values = ops.concat(values[..., n:], new[..., 2 * n :])
        been = ops.concat(been[..., 1:], 0.0 * new[..., :1] + 1.0)
        everywhere = np.tile(np.eye(n, dtype=np.float32), (STEPS, 1))
        query = ops.linear(new[..., :n] * float(n**-0.5), everywhere)
        score = ops.linear(query * keys, np.ones((STEPS, 1, n), np.float32)) + p["ago"]
        weight = ops.exp(BOUND * ops.tanh(score * (1.0 / BOUND)) + (been - 1.0) * NEVER)
        total = ops.linear(ops.linear(weight, np.ones((1, STEPS), np.float32)), np.ones((STEPS, 1), np.float32))
        share = ops.linear(weight / total, np.ones((STEPS, n, 1), np.float32))
        return ops.concat(ops.linear(share * values, np.ascontiguousarray(everywhere.T)), keys, values, been)
