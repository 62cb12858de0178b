"""The registered families: one line here, or one call of `register` anywhere, adds a family everywhere.

Beside the registered ones there are those of other sizes (`sizes`) and widths (`widths`), made from their names:
`structured_k0_n32`, `structured_k0_n8_e16_c8_h16`.
"""

from dataclasses import replace
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
from blindsave.policies.students.widths import GRAMMAR, PAPER, Widths, split_widths

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
    base, widths = split_widths(name)
    taken = widths != PAPER and _known(base) is not None
    if taken or (name in _families and _families[name].core != core) or core_named(name) not in (None, core):
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
    """The family of this name: a registered one, or one of another size or other widths."""
    base, widths = split_widths(name)
    for known in (_known, _installed):  # installed packages are not asked for names that we know
        if (found := known(name)) is not None:
            return found
        if widths != PAPER and (found := known(base)) is not None:
            return _with_widths(name, found, widths)
    if is_kind(name):
        example = widths.behind(f"{STACK}_10" if base == STACK else f"{base}_n64")
        raise BadInput(f"the family `{name}` needs a size, for example `{example}`")
    others = f"other sizes of {', '.join(f'{kind}_nSIZE' for kind in (KINDS[0], *GATED))} and {STACK}_SIZE"
    there = f"there are {', '.join(families())}, {others}, and other widths of all of them, {GRAMMAR}"
    raise BadInput(f"there is no family `{name}`; {there}")


def _known(name: str) -> Family | None:
    """A family that is registered already, or one of another size."""
    if name in _families:
        return _families[name]
    core = core_named(name)
    return None if core is None else Family(name, core)


def _installed(name: str) -> Family | None:
    """A family that an installed package adds."""
    return families().get(name)


def _with_widths(name: str, base: Family, widths: Widths) -> Family:
    """A family with another encoder and head; its core must be able to read the code."""
    found = Family(name, replace(base.core, code=widths.code), widths.encoder, widths.head)
    if widths.code != base.core.code:
        try:
            found.program(found.init(0))
        except (BadInput, ValueError):
            told = f"the core of `{base.name}` reads a code of {base.core.code} floats and no other"
            raise BadInput(f"the family `{name}` cannot be: {told}") from None
    return found


def only_here(name: str) -> bool:
    """Whether a family was registered by this process alone, so that workers would not know it."""
    name = name if name in _families else split_widths(name)[0]
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
