"""Complex diagonal linear memory (in the manner of the linear recurrent unit): decaying rotations.

    z' = lambda * z + gamma * (B [e, a] + b),   lambda = r (cos phi + i sin phi)

with r = tanh(alpha), as in the structured core, and the angle given by t = tan(phi / 2), which needs no trigonometry:
cos phi = (1 - t*t) / (1 + t*t), sin phi = 2t / (1 + t*t). The memory holds all real parts, then all imaginary parts.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from blindsave.policies.base import ACTION_FLOATS
from blindsave.policies.students.core import MemoryCore, Parameters, glorot, zeros
from blindsave.policies.students.structured import decay_logits

LARGEST_ANGLE = np.pi / 8
"""Initial angles per step spread evenly from 0 to this: at 50 Hz, up to about 3 Hz."""


@dataclass(frozen=True)
class LRU(MemoryCore):
    """`pairs` damped oscillators, driven by the inputs."""

    pairs: int = 32

    @property
    def memory(self) -> int:
        """A real and an imaginary part per oscillator."""
        return 2 * self.pairs

    def init(self, rng: np.random.Generator, seed: int) -> Parameters:
        """Only the input matrix is random; gamma starts at sqrt(1 - r*r) so that all oscillators are equally loud."""
        alpha = decay_logits(self.pairs)
        return {
            "alpha": alpha,
            "t": np.tan(np.linspace(0.0, LARGEST_ANGLE, self.pairs) / 2).astype(np.float32),
            "gamma": np.sqrt(1.0 - np.tanh(np.tile(alpha, 2).astype(np.float64)) ** 2).astype(np.float32),
            "B": glorot(rng, self.memory, self.code + ACTION_FLOATS),
            "b": zeros(self.memory),
        }

    def drive(self, ops: Any, p: Any, code: Any, action: Any) -> tuple[Any, ...]:
        """(Re lambda, Im lambda, Re input, Im input)."""
        r, t = ops.tanh(p["alpha"]), p["t"]
        scale = r / (1.0 + t * t)
        push = p["gamma"] * ops.linear(ops.concat(code, action), p["B"], p["b"])
        return scale * (1.0 - t * t), scale * (2.0 * t), push[..., : self.pairs], push[..., self.pairs :]

    def advance(self, ops: Any, p: Any, memory: Any, drive: tuple[Any, ...]) -> Any:
        """Rotate, shrink, push."""
        c, s, push_re, push_im = drive
        re, im = memory[..., : self.pairs], memory[..., self.pairs :]
        return ops.concat(c * re - s * im + push_re, c * im + s * re + push_im)

    def combine(self, ops: Any, first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
        """Composition of two complex affine maps."""
        (c1, s1, re1, im1), (c2, s2, re2, im2) = first, second
        return c1 * c2 - s1 * s2, c1 * s2 + s1 * c2, c2 * re1 - s2 * im1 + re2, c2 * im1 + s2 * re1 + im2
