"""How the report calls policies and conditions, and in which order; titles and colours are those of `draw`."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from blindsave.draw.family_names import core_and_size, name_and_widths
from blindsave.draw.policy_looks import NAIVE, family_words, short_words
from blindsave.policies.students.registry import PAPER_FAMILIES

CONTROL_DT_MS = 20
PAPER_CORES = tuple(core_and_size(name)[0] for name in PAPER_FAMILIES)
TEACHER = "teacher"
UNITS = {"mm": "mm", "percent": "%"}
SPLIT_TITLES = {
    "principal_test": "principal test",
    "sealed_test": "sealed test",
    "validation": "validation shots",
    "noise_test": "noise test",
    "test": "memory-test shots",
}


def title(policy: str) -> str:
    """What the report calls a policy."""
    return family_words(policy)


def short(policy: str) -> str:
    """A title for narrow places."""
    return short_words(policy)


def ordered(policies: Iterable[str]) -> list[str]:
    """The paper's cores first in its own order, then others by name, each by size; the teacher last."""
    present = set(policies)
    students = sorted(present - {TEACHER}, key=_place)
    return [*students, *([TEACHER] if TEACHER in present else [])]


def _place(policy: str) -> tuple[int, str, int, str]:
    core, size = core_and_size(policy.removesuffix(NAIVE))
    plain, _ = name_and_widths(core)
    return PAPER_CORES.index(plain) if plain in PAPER_CORES else len(PAPER_CORES), core, size or 0, policy


def pair(a: str, b: str) -> str:
    """A difference in words for narrow places: "k = 0 − GRU-64"."""
    return f"{short(a)} − {short(b)}"


def split_title(split: str) -> str:
    """What the report calls the shots of a split."""
    return SPLIT_TITLES.get(split, split)


def milliseconds(blackout: int) -> int:
    """Control steps as milliseconds."""
    return blackout * CONTROL_DT_MS


def condition(blackout: int, disturbance: str = "clean") -> str:
    """A condition in words: "400 ms", "400 ms, noise 5 mm"."""
    base = f"{milliseconds(blackout)} ms"
    if disturbance == "clean":
        return base
    return f"{base}, {under(disturbance)}"


def under(disturbance: str) -> str:
    """What goes wrong, in words: "noise 5 mm", "latency 2 + outliers 3 %"."""
    words = re.sub(r"(?<=\d)(mm|percent)", lambda unit: f" {UNITS[unit[0]]}", disturbance)
    return words.replace("+", " + ").replace("_", " ")


class Level(NamedTuple):
    """A condition of one fault with one number: how much of what."""

    fault: str
    amount: float
    unit: str


def level(disturbance: str) -> Level | None:
    """The level of `noise_5mm`; None where a condition is clean or not of that kind."""
    found = re.fullmatch(r"([a-z]+(?:_[a-z]+)*)_(-?\d+(?:\.\d+)?(?:e-?\d+)?)(mm|percent)?", disturbance)
    return Level(found[1], float(found[2]), UNITS.get(found[3] or "", "")) if found else None


def sigma_mm(disturbance: str) -> float:
    """The noise level of a disturbance named `clean` or `noise_5mm`; infinity for any other."""
    found = Level("noise", 0.0, "mm") if disturbance == "clean" else level(disturbance)
    return found.amount if found and found.fault == "noise" else float("inf")
