"""A long short-term memory: a gated cell that is kept apart from what is shown of it. Gates: input, forget, output."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from blindsave.policies.base import ACTION_FLOATS
from blindsave.policies.students.core import MemoryCore, Parameters, glorot, zeros

REMEMBER_AT_FIRST = 1.0
"""Initial bias of the forget gate, as is usual: an untrained cell keeps most of what it has."""


@dataclass(frozen=True)
class LSTM(MemoryCore):
    """`width` units of two floats each: all cells, then all that is shown of them."""

    width: int = 32

    @property
    def memory(self) -> int:
        """Cell and output of every unit."""
        return 2 * self.width

    def init(self, rng: np.random.Generator, seed: int) -> Parameters:
        """Each of the two weights is drawn as one matrix of three gates and the candidate."""
        bias = zeros(4 * self.width)
        bias[self.width : 2 * self.width] = REMEMBER_AT_FIRST
        return {
            "W_x": glorot(rng, 4 * self.width, self.code + ACTION_FLOATS),
            "W_h": glorot(rng, 4 * self.width, self.width),
            "b": bias,
        }

    def drive(self, ops: Any, p: Any, code: Any, action: Any) -> tuple[Any, ...]:
        """What the inputs say to gates and candidate."""
        return (ops.linear(ops.concat(code, action), p["W_x"], p["b"]),)

    def advance(self, ops: Any, p: Any, memory: Any, drive: tuple[Any, ...]) -> Any:
        """Cell c' = f * c + i * tanh(.), shown h' = o * tanh(c')."""
        n, cell, shown = self.width, memory[..., : self.width], memory[..., self.width :]
        both = drive[0] + ops.linear(shown, p["W_h"])
        gates, candidate = ops.sigmoid(both[..., : 3 * n]), ops.tanh(both[..., 3 * n :])
        cell = gates[..., n : 2 * n] * cell + gates[..., :n] * candidate
        return ops.concat(cell, gates[..., 2 * n :] * ops.tanh(cell))
