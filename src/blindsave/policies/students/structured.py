"""Diagonal linear memory plus a nonlinear correction of rank k.

    z' = tanh(alpha) * z + B_e e + B_a a + b_z + U tanh(V z + W_e e + W_a a + b_r)

With k = 0 the last term is absent and the memory is 64 independent leaky integrators.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from blindsave.policies.base import ACTION_FLOATS
from blindsave.policies.students.core import MemoryCore, Parameters, glorot, zeros

STEP_S = 0.02
SHORTEST_S, LONGEST_S = 0.04, 2.0
"""Range of the initial time constants, geometrically spaced."""
DRAWN_RANK = 2
INNOVATION_STREAM = 0xA17C0DE


def decay_logits(width: int) -> np.ndarray:
    """artanh(exp(-step / time constant)) for geometrically spaced time constants, in float32."""
    time_constants_s = np.geomspace(SHORTEST_S, LONGEST_S, width)
    return np.arctanh(np.exp(-STEP_S / time_constants_s)).astype(np.float32)


@dataclass(frozen=True)
class Structured(MemoryCore):
    """`width` memory cells whose mutual influence passes through `rank` nonlinear channels."""

    rank: int = 0
    width: int = 64

    @property
    def memory(self) -> int:
        """One float per cell."""
        return self.width

    @property
    def associative(self) -> bool:
        """Only the linear core can be scanned in parallel."""
        return self.rank == 0

    def init(self, rng: np.random.Generator, seed: int) -> Parameters:
        """Equal seeds give equal parameters outside the innovation, whatever the rank."""
        p = {
            "alpha": decay_logits(self.width),
            "B_e": glorot(rng, self.width, self.code),
            "B_a": glorot(rng, self.width, ACTION_FLOATS),
            "b_z": zeros(self.width),
        }
        # The main stream always gives a rank-2 set, so that what is drawn after it does not depend on the rank.
        innovation = self._innovation(rng, DRAWN_RANK)
        if self.rank not in (0, DRAWN_RANK):
            own = np.random.default_rng(np.random.SeedSequence([seed, self.rank, INNOVATION_STREAM]))
            innovation = self._innovation(own, self.rank)
        return p if self.rank == 0 else p | innovation

    def _innovation(self, rng: np.random.Generator, rank: int) -> Parameters:
        return {
            "U": glorot(rng, self.width, rank),
            "V": glorot(rng, rank, self.width),
            "W_e": glorot(rng, rank, self.code),
            "W_a": glorot(rng, rank, ACTION_FLOATS),
            "b_r": zeros(rank),
        }

    def diagonal(self, ops: Any, p: Any) -> Any:
        """How much of each cell survives a step."""
        return ops.tanh(p["alpha"])

    def drive(self, ops: Any, p: Any, code: Any, action: Any) -> tuple[Any, ...]:
        """(decay, input) and, for k > 0, the input of the innovation."""
        push = ops.linear(action, p["B_a"], ops.linear(code, p["B_e"], p["b_z"]))
        if self.rank == 0:
            return self.diagonal(ops, p), push
        return self.diagonal(ops, p), push, ops.linear(action, p["W_a"], ops.linear(code, p["W_e"], p["b_r"]))

    def advance(self, ops: Any, p: Any, memory: Any, drive: tuple[Any, ...]) -> Any:
        """Decay, push, correct."""
        decay, push, *rest = drive
        kept = decay * memory + push
        if self.rank == 0:
            return kept
        return ops.linear(ops.tanh(ops.linear(memory, p["V"], rest[0])), p["U"], kept)

    def combine(self, ops: Any, first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
        """Two steps of z' = d z + b are one step of the same form."""
        (d1, b1), (d2, b2) = first, second
        return d1 * d2, d2 * b1 + b2
