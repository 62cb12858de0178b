"""Families of other sizes by name: `structured_k0_n32`, `structured_k3`, `gru_n16`, `lru_n8`, `finite_stack_5`.

A *kind* is a family without its size. What the size counts is the kind's own affair: cells of the structured memory,
units of a gated one, oscillators (two floats each) of the complex one, remembered readings (three floats each) of the
stack. Every architecture has exactly one name: the structured memory of the paper's 64 cells is named without a size.
"""

import re

from blindsave.errors import BadInput
from blindsave.policies.students.attention import Attention
from blindsave.policies.students.core import MemoryCore
from blindsave.policies.students.finite_stack import FiniteStack
from blindsave.policies.students.gru import GRU
from blindsave.policies.students.lru import LRU
from blindsave.policies.students.lstm import LSTM
from blindsave.policies.students.mingru import MinGRU
from blindsave.policies.students.structured import Structured
from blindsave.policies.students.widths import split_widths
from blindsave.task.outcomes import TIMEOUT_STEPS

LARGEST = 1024
"""Largest size of a kind, beyond which a step is no longer small."""
LONGEST_STACK = TIMEOUT_STEPS + 1
"""An episode has no more observations than this."""
GATED = {"gru": GRU, "lru": LRU, "mingru": MinGRU, "lstm": LSTM, "attention": Attention}
STACK = "finite_stack"
KINDS = ("structured_kRANK", *GATED, STACK)
"""How kinds are written."""

_NUMBER = "(0|[1-9][0-9]{0,5})"
_STRUCTURED = re.compile(f"structured_k{_NUMBER}")
_STRUCTURED_SIZED = re.compile(f"structured_k{_NUMBER}_n{_NUMBER}")
_GATED_SIZED = re.compile(f"({'|'.join(GATED)})_n{_NUMBER}")
_STACK_SIZED = re.compile(f"{STACK}_{_NUMBER}")


def is_kind(name: str) -> bool:
    """Whether the name is of a kind that comes in sizes; its widths may be named."""
    name, _ = split_widths(name)
    return name in GATED or name == STACK or _STRUCTURED.fullmatch(name) is not None


def with_size(kind: str, size: int) -> str:
    """The name of a kind's family of this size; out of range is a `BadInput`."""
    kind, widths = split_widths(kind)
    if kind == STACK:
        name = f"{STACK}_{size}"
    elif kind in GATED or size != Structured.width:
        name = f"{kind}_n{size}"
    else:
        name = kind
    core_named(name)
    return widths.behind(name)


def core_named(name: str) -> MemoryCore | None:
    """The core that a name spells; None where it spells none, `BadInput` where it spells one that cannot be."""
    if found := _STRUCTURED.fullmatch(name):
        return _structured(name, int(found[1]), Structured.width)
    if found := _STRUCTURED_SIZED.fullmatch(name):
        if int(found[2]) == Structured.width:
            raise BadInput(f"the family `{name}` is called `structured_k{found[1]}`")
        return _structured(name, int(found[1]), int(found[2]))
    if found := _GATED_SIZED.fullmatch(name):
        return GATED[found[1]](_within(name, int(found[2]), LARGEST))
    if found := _STACK_SIZED.fullmatch(name):
        return FiniteStack(_within(name, int(found[1]), LONGEST_STACK))
    return None


def _structured(name: str, rank: int, width: int) -> MemoryCore:
    _within(name, width, LARGEST)
    if rank > width:
        raise BadInput(f"the family `{name}` cannot be: {rank} nonlinear modes need at least as many memory cells")
    return Structured(rank, width)


def _within(name: str, size: int, largest: int) -> int:
    if not 1 <= size <= largest:
        raise BadInput(f"the family `{name}` cannot be: its size must be between 1 and {largest}")
    return size
