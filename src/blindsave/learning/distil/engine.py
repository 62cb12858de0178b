"""How a training runs on the device at hand. Nothing here changes what is computed, only how fast."""

from dataclasses import dataclass
from typing import Literal

import jax

from blindsave.policies.students.family import Family

EVERYTHING = 1 << 30


@dataclass(frozen=True)
class Engine:
    """Choices of execution."""

    seeds: Literal["in_turn", "together"]
    """CPU caches like one seed after another; a GPU wants all seeds in every kernel."""
    segment: int
    """Time is cut at multiples of this to drop episodes that have ended; every cut costs a loop."""
    unroll: int
    """Steps of the memory's loop per iteration."""
    evaluation_batch: int
    """Episodes evaluated together."""


def engine_for(family: Family, backend: str | None = None) -> Engine:
    """The choices measured to be fast (docs/distillation.md)."""
    loop_free = not family.core.recurrent
    if (backend or jax.default_backend()) == "cpu":
        return Engine("in_turn", 1 if loop_free else 16, 1, 512)
    # Kernel launches are what costs: few loops, long bodies.
    return Engine("together", 1 if loop_free else 64, 8, EVERYTHING)
