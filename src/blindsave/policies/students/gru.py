"""A gated recurrent unit, with separate input and hidden biases and gates in the order reset, update, new."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from blindsave.policies.base import ACTION_FLOATS
from blindsave.policies.students.core import MemoryCore, Parameters, glorot, zeros


@dataclass(frozen=True)
class GRU(MemoryCore):
    """The dense nonlinear reference memory."""

    width: int = 64

    @property
    def memory(self) -> int:
        """One float per unit."""
        return self.width

    def init(self, rng: np.random.Generator, seed: int) -> Parameters:
        """Each of the two weights is drawn as one matrix of three stacked gates."""
        return {
            "W_ih": glorot(rng, 3 * self.width, self.code + ACTION_FLOATS),
            "W_hh": glorot(rng, 3 * self.width, self.width),
            "b_ih": zeros(3 * self.width),
            "b_hh": zeros(3 * self.width),
        }

    def drive(self, ops: Any, p: Any, code: Any, action: Any) -> tuple[Any, ...]:
        """What the inputs say to the three gates."""
        return (ops.linear(ops.concat(code, action), p["W_ih"], p["b_ih"]),)

    def advance(self, ops: Any, p: Any, memory: Any, drive: tuple[Any, ...]) -> Any:
        """r, u = sigmoid(.), n = tanh(x_n + r * h_n), h' = (1 - u) * n + u * h."""
        n = self.width
        (x,), h = drive, ops.linear(memory, p["W_hh"], p["b_hh"])
        gates = ops.sigmoid(x[..., : 2 * n] + h[..., : 2 * n])
        reset, update = gates[..., :n], gates[..., n:]
        new = ops.tanh(x[..., 2 * n :] + reset * h[..., 2 * n :])
        return (1.0 - update) * new + update * memory
