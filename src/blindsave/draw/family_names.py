"""Families by name: which core, of what size, and what people call it.

Sizes are part of the name for every core, a user's own too: `gru_n16`, `mgu_n24`, `finite_stack_5`. Widths of encoder
and head that are not the paper's stand behind: `gru_n16_e24_c12_h24`. Families of other widths count as another core.
"""

import re
from collections.abc import Iterable

CELLS = 64
"""Cells of a structured memory whose name has no size (the paper's)."""
CORES = {
    "gru": "GRU",
    "lru": "LRU",
    "mingru": "minGRU",
    "lstm": "LSTM",
    "attention": "Causal attention",
    "structured_k0": "Linear memory",
    "feed_forward": "Feed-forward",
    "differences": "Last two readings",
    "least_squares": "Least squares",
    "kalman": "Kalman filter",
    "kalman_gated": "Gated Kalman filter",
    "bayes": "Bayes, knows the shots",
    "planner": "Planner, told the truth",
}
UNITS = {"lru": "oscillators"}
"""What a size counts, where it is not units."""
STACK = "finite_stack"
_SIZED = re.compile(r"(.+)_n([0-9]+)")
_STACK = re.compile(STACK + r"_([0-9]+)")
_STRUCTURED = re.compile(r"structured_k([0-9]+)")
_WIDTHS = re.compile(r"(.+?)((?:_e[0-9]+)?(?:_c[0-9]+)?(?:_h[0-9]+)?)")


def name_and_widths(name: str) -> tuple[str, str]:
    """A family without its widths, and the widths in the manner of its name: `_e24_c12_h24`, or nothing."""
    found = _WIDTHS.fullmatch(name)
    return (found[1], found[2]) if found else (name, "")


def core_and_size(name: str) -> tuple[str, int | None]:
    """The core of a family, with its widths, and its size; a family that comes in no sizes is its own core."""
    name, widths = name_and_widths(name)
    if found := _SIZED.fullmatch(name):
        return found[1] + widths, int(found[2])
    if found := _STACK.fullmatch(name):
        return STACK + widths, int(found[1])
    return name + widths, CELLS if _STRUCTURED.fullmatch(name) else None


def core_title(core: str) -> str:
    """A core without its size: "GRU", "Linear memory", "Structured k = 3", "mgu", "GRU (e24 c12 h24)"."""
    core, widths = name_and_widths(core)
    if widths:
        return f"{core_title(core)} ({widths[1:].replace('_', ' ')})"
    if core == STACK:
        return "Stack of observations"
    if (found := _STRUCTURED.fullmatch(core)) and core not in CORES:
        return f"Structured k = {found[1]}"
    return CORES.get(core, core.replace("_", " "))


def family_title(name: str) -> str:
    """A family in words: "GRU, 16 units", "5-step stack", "GRU, 16 units (e24 c12 h24)"."""
    name, widths = name_and_widths(name)
    if widths:
        return f"{family_title(name)} ({widths[1:].replace('_', ' ')})"
    core, size = core_and_size(name)
    if core == STACK and size is not None:
        return f"{size}-step stack"
    if size is None or name == core:
        return core_title(core)
    unit = UNITS.get(core, "units")
    return f"{core_title(core)}, {size} {unit if size != 1 else unit[:-1]}"


def family_short(name: str) -> str:
    """The same for narrow places: "GRU-16", "Linear-16", "k = 3, n = 16"."""
    name, widths = name_and_widths(name)
    if widths:
        return f"{family_short(name)} ({widths[1:].replace('_', ' ')})"
    core, size = core_and_size(name)
    said = core_title(core).replace(" memory", "").replace("Structured ", "")
    if core == STACK or size is None or name == core:
        return family_title(name).replace("Structured ", "")
    return f"{said}, n = {size}" if "=" in said else f"{said}-{size}"


def sizes_by_core(names: Iterable[str]) -> dict[str, dict[int, str]]:
    """Families of every core that occurs in several sizes, the smallest first; cores in the order they are met."""
    found: dict[str, dict[int, str]] = {}
    for name in names:
        core, size = core_and_size(name)
        if size is not None:
            found.setdefault(core, {})[size] = name
    return {core: dict(sorted(sizes.items())) for core, sizes in found.items() if len(sizes) > 1}
