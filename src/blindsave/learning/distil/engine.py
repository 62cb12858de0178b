"""How a training runs on the device at hand. Nothing here changes what is computed, only how fast."""

from dataclasses import dataclass, replace
from typing import Any, Literal

import jax

from blindsave.errors import BadInput
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
    scan: Literal["sequential", "associative"] = "sequential"
    """How memories of linear cores are found; other cores know the sequential way only."""


def engine_for(family: Family, backend: str | None = None, **changes: Any) -> Engine:
    """The choices measured to be fast (docs/distillation.md), with the given changes."""
    loop_free = not family.core.recurrent
    if (backend or jax.default_backend()) == "cpu":
        engine = Engine("in_turn", 1 if loop_free else 16, 1, 512)
    else:
        # Kernel launches are what costs: few loops, long bodies.
        scan = "associative" if family.core.associative else "sequential"
        engine = Engine("together", 1 if loop_free else 64, 8, EVERYTHING, scan)
    unknown = changes.keys() - Engine.__dataclass_fields__.keys()
    if unknown:
        raise BadInput(f"an engine has no `{min(unknown)}`; it has {', '.join(Engine.__dataclass_fields__)}")
    return replace(engine, **changes)
