"""The memory-core contract: what one file has to say to become a family of students.

A student is encoder, memory core and head. A core names its parameters and describes one step in terms of a namespace
of operations `ops`, plain `+ - * /` and slices `x[..., a:b]`. From that one description come training in JAX, the NumPy
reference, the C kernel, the C header, the ONNX graph and the cost accounting. docs/memory-cores.md is the how-to.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from blindsave.policies.arithmetic import Array
from blindsave.policies.base import OBSERVATION_FLOATS

CODE_FLOATS = 32
"""Width of the encoder's output, the code `e` a core reads, in the paper."""

Parameters = dict[str, Array]


def glorot(rng: np.random.Generator, *shape: int) -> Array:
    """Normal(0, sqrt(2 / (fan_in + fan_out))) for an (out, in) matrix, drawn in float64 and rounded to float32."""
    return rng.normal(0.0, np.sqrt(2.0 / sum(shape)), size=shape).astype(np.float32)


def zeros(*shape: int) -> Array:
    """Zeros, as every bias starts."""
    return np.zeros(shape, np.float32)


@dataclass(frozen=True)
class MemoryCore:
    """Base of all cores; a subclass overrides what it needs.

    `ops` is `blindsave.policies.arithmetic` (NumPy), a tracer (programs) or the JAX namespace (training). Vectors may
    have any number of leading axes. `p` holds the core's own parameters by their short names.
    """

    recurrent: ClassVar[bool] = True
    """Does the core keep a learned state, fed by the previous action and read by the head? If not, the memory (if
    any) is a plain record of observations that only `observe` changes, and the head reads the code alone."""

    code: int = field(default=CODE_FLOATS, kw_only=True)
    """Floats that the core is told at every step besides the previous action."""

    @property
    def memory(self) -> int:
        """Floats kept between steps, the previous action not counted."""
        return 0

    @property
    def shown(self) -> int:
        """Floats of the memory, the first ones, that the head reads; all by default."""
        return self.memory

    @property
    def observed(self) -> int:
        """Floats that `observe` hands to the encoder."""
        return OBSERVATION_FLOATS

    @property
    def associative(self) -> bool:
        """Can steps be combined (`combine` is defined), so that a sequence can be scanned in parallel?"""
        return type(self).combine is not MemoryCore.combine

    def init(self, rng: np.random.Generator, seed: int) -> Parameters:
        """Draw fresh parameters. `rng` is the student's generator, between the encoder's draws and the head's."""
        return {}

    def observe(self, ops: Any, memory: Any, observation: Any) -> tuple[Any, Any]:
        """(memory, observation) to (memory, encoder input), before anything learned happens."""
        return memory, observation

    def drive(self, ops: Any, p: Any, code: Any, action: Any) -> tuple[Any, ...]:
        """Everything a step needs that does not depend on the memory; computed for whole sequences at once."""
        return code, action

    def advance(self, ops: Any, p: Any, memory: Any, drive: tuple[Any, ...]) -> Any:
        """One step: the next memory from the memory and the drive."""
        return memory

    def combine(self, ops: Any, first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
        """The single drive that acts like `first` followed by `second`; must be associative. Optional."""
        raise NotImplementedError

    def diagonal(self, ops: Any, p: Any) -> Any | None:
        """The diagonal A of the linear part of `advance`, where the rank of d(next)/d(memory) - A is of interest."""
        return None
