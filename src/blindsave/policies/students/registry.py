"""The registered families: one line here, or one call of `register` anywhere, adds a family everywhere.

Beside the registered ones there are those of other sizes, made from their names (`sizes`): `structured_k0_n32`.
"""

from importlib.metadata import entry_points

from blindsave.errors import BadInput
from blindsave.plugins import load_plugins, travels
from blindsave.policies.students.attention import Attention
from blindsave.policies.students.core import MemoryCore
from blindsave.policies.students.family import Family
from blindsave.policies.students.feed_forward import FeedForward
from blindsave.policies.students.finite_stack import FiniteStack
from blindsave.policies.students.gru import GRU
from blindsave.policies.students.lru import LRU
from blindsave.policies.students.lstm import LSTM
from blindsave.policies.students.mingru import MinGRU
from blindsave.policies.students.sizes import GATED, KINDS, STACK, core_named, is_kind
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
    if (name in _families and _families[name].core != core) or core_named(name) not in (None, core):
        raise BadInput(f"there already is a family `{name}`")
    _families[name] = Family(name, core)
    return _families[name]


def families() -> dict[str, Family]:
    """Every registered family by name, in the order of registration."""
    load_plugins()
    for point in entry_points(group=ENTRY_POINTS):
        if point.name not in _families:
            register(point.name, point.load())
    return dict(_families)


def family(name: str) -> Family:
    """The family of this name: a registered one, or one of another size."""
    if name in _families:
        return _families[name]
    core = core_named(name)
    if core is not None:
        return Family(name, core)
    known = families()
    if name in known:
        return known[name]
    if is_kind(name):
        example = f"{STACK}_10" if name == STACK else f"{name}_n64"
        raise BadInput(f"the family `{name}` needs a size, for example `{example}`")
    others = f"other sizes of {', '.join(f'{kind}_nSIZE' for kind in (KINDS[0], *GATED))} and {STACK}_SIZE"
    raise BadInput(f"there is no family `{name}`; there are {', '.join(known)}, and {others}")


def only_here(name: str) -> bool:
    """Whether a family was registered by this process alone, so that workers would not know it."""
    known = _families.get(name)
    if known is None or travels(type(known.core).__module__):
        return False
    return name not in entry_points(group=ENTRY_POINTS).names


def find(name: str) -> Family | None:
    """The family of this name, or None where there is none."""
    try:
        return family(name)
    except BadInput:
        return None


register("feed_forward", FeedForward())
register("finite_stack_10", FiniteStack(steps=10))
for _rank in (0, 1, 2, 4):
    register(f"structured_k{_rank}", Structured(rank=_rank))
register("gru_n64", GRU())
register("lru_n32", LRU())
register("mingru_n64", MinGRU())
register("lstm_n32", LSTM())
register("attention_n8", Attention())
