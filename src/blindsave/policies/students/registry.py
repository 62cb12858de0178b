"""The registered families: one line here, or one call of `register` anywhere, adds a family everywhere."""

from importlib.metadata import entry_points

from blindsave.errors import BadInput
from blindsave.policies.students.core import MemoryCore
from blindsave.policies.students.family import Family
from blindsave.policies.students.feed_forward import FeedForward
from blindsave.policies.students.finite_stack import FiniteStack
from blindsave.policies.students.gru import GRU
from blindsave.policies.students.lru import LRU
from blindsave.policies.students.mingru import MinGRU
from blindsave.policies.students.structured import Structured

ENTRY_POINTS = "blindsave.cores"
"""Installed packages add families through this entry-point group: name = "module:core_instance"."""

PAPER_FAMILIES = (
    "feed_forward",
    "finite_stack_10",
    "structured_k0",
    "structured_k1",
    "structured_k2",
    "structured_k4",
    "gru_n64",
)
"""The seven families of the study, in the order of its tables."""

_families: dict[str, Family] = {}


def register(name: str, core: MemoryCore) -> Family:
    """Add a family; training, evaluation, accounting, export and report then know it by this name."""
    if not name.replace("_", "").isalnum():
        raise BadInput(f"a family name is letters, digits and underscores, not `{name}`")
    if name in _families and _families[name].core != core:
        raise BadInput(f"there already is a family `{name}`")
    _families[name] = Family(name, core)
    return _families[name]


def families() -> dict[str, Family]:
    """Every registered family by name, in the order of registration."""
    for point in entry_points(group=ENTRY_POINTS):
        if point.name not in _families:
            register(point.name, point.load())
    return dict(_families)


def family(name: str) -> Family:
    """The family of this name."""
    known = _families if name in _families else families()
    if name not in known:
        raise BadInput(f"there is no family `{name}`; there are {', '.join(known)}")
    return known[name]


register("feed_forward", FeedForward())
register("finite_stack_10", FiniteStack(steps=10))
for _rank in (0, 1, 2, 4):
    register(f"structured_k{_rank}", Structured(rank=_rank))
register("gru_n64", GRU())
register("lru_n32", LRU())
register("mingru_n64", MinGRU())
