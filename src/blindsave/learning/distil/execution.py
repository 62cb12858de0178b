"""How a training runs on the device at hand. Nothing here changes what is computed, only how fast."""

import os
import sys
from dataclasses import dataclass, replace
from typing import Any, Literal

from blindsave.errors import BadInput
from blindsave.policies.students.family import Family

EVERYTHING = 1 << 30
THREADS = "NPROC"
"""The environment variable from which XLA takes its number of CPU threads."""
_warned: list[bool] = []


@dataclass(frozen=True)
class Execution:
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


def execution_for(family: Family, backend: str | None = None, **changes: Any) -> Execution:
    """The choices measured to be fast (docs/distillation.md), with the given changes."""
    import jax

    train_on_one_thread()
    loop_free = not family.core.recurrent
    if (backend or jax.default_backend()) == "cpu":
        execution = Execution("in_turn", 1 if loop_free else 16, 1, 512)
    else:
        # Kernel launches are what costs: few loops, long bodies.
        scan = "associative" if family.core.associative else "sequential"
        execution = Execution("together", 1 if loop_free else 64, 8, EVERYTHING, scan)
    unknown = changes.keys() - Execution.__dataclass_fields__.keys()
    if unknown:
        raise BadInput(f"an execution has no `{min(unknown)}`; it has {', '.join(Execution.__dataclass_fields__)}")
    return replace(execution, **changes)


def train_on_one_thread() -> None:
    """Give JAX one CPU thread in this process: how XLA divides a sum among threads changes its last bits.

    So a training is the same on two cores, on sixteen, and beside others. What is lost is little: families train side
    by side, and two processes of one thread are faster than one process of two. Call it before JAX first computes.
    """
    import jax
    from jax._src import xla_bridge

    if os.environ.get(THREADS) == "1":
        return
    if not xla_bridge.backends_are_initialized():
        os.environ[THREADS] = "1"
    elif jax.default_backend() == "cpu" and not _warned:
        _warned.append(True)
        print(
            f"blindsave: JAX was in use before students were trained; without {THREADS}=1 in the environment their "
            "last bits may differ from those trained elsewhere",
            file=sys.stderr,
        )
