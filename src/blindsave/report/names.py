"""How the report calls policies and conditions, and in which order; titles and colours are those of `draw`."""

from collections.abc import Iterable

from blindsave.draw.family_names import core_and_size
from blindsave.draw.policy_looks import family_words, short_words
from blindsave.policies.students.registry import PAPER_FAMILIES

CONTROL_DT_MS = 20
PAPER_CORES = tuple(core_and_size(name)[0] for name in PAPER_FAMILIES)
TEACHER = "teacher"
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


def _place(policy: str) -> tuple[int, str, int]:
    core, size = core_and_size(policy)
    return PAPER_CORES.index(core) if core in PAPER_CORES else len(PAPER_CORES), core, size or 0


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
    return f"{base}, {disturbance.replace('_', ' ').replace('mm', ' mm')}"


def sigma_mm(disturbance: str) -> float:
    """The noise level of a disturbance named `clean` or `noise_5mm`; infinity for any other."""
    if disturbance == "clean":
        return 0.0
    digits = disturbance.removeprefix("noise_").removesuffix("mm")
    try:
        return float(digits)
    except ValueError:
        return float("inf")
