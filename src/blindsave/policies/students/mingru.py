"""A minimal gated unit: gates see the inputs only, so the memory is a data-dependent leaky integrator."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from blindsave.policies.base import ACTION_FLOATS
from blindsave.policies.students.core import MemoryCore, Parameters, glorot, zeros


@dataclass(frozen=True)
class MinGRU(MemoryCore):
    """h' = (1 - u) * h + u * candidate with u and the candidate functions of the inputs alone."""

    width: int = 64

    @property
    def memory(self) -> int:
        """One float per unit."""
        return self.width

    def init(self, rng: np.random.Generator, seed: int) -> Parameters:
        """Gate first, then candidate."""
        inputs = self.code + ACTION_FLOATS
        gate, candidate = glorot(rng, self.width, inputs), glorot(rng, self.width, inputs)
        return {"W": np.concatenate((gate, candidate)), "b": zeros(2 * self.width)}

    def drive(self, ops: Any, p: Any, code: Any, action: Any) -> tuple[Any, ...]:
        """(share kept, push)."""
        both = ops.linear(ops.concat(code, action), p["W"], p["b"])
        update, candidate = ops.sigmoid(both[..., : self.width]), both[..., self.width :]
        return 1.0 - update, update * candidate

    def advance(self, ops: Any, p: Any, memory: Any, drive: tuple[Any, ...]) -> Any:
        """Keep a share, add the push."""
        keep, push = drive
        return keep * memory + push

    def combine(self, ops: Any, first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
        """Two steps of h' = k h + b are one step of the same form."""
        (k1, b1), (k2, b2) = first, second
        return k1 * k2, k2 * b1 + b2
