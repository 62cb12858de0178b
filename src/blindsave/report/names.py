"""How the report calls policies and conditions, and in which order; titles and colours are those of `draw`."""

from collections.abc import Iterable

from blindsave.draw.policy_looks import look
from blindsave.policies.students.registry import PAPER_FAMILIES

CONTROL_DT_MS = 20
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
    return look(policy).title


def short(policy: str) -> str:
    """A title for narrow places."""
    return title(policy).replace("Structured ", "").replace("Ten-step ", "")


def ordered(policies: Iterable[str]) -> list[str]:
    """The study's families first in its own order, then others by name, the teacher last."""
    present = set(policies)
    known = [name for name in PAPER_FAMILIES if name in present]
    others = sorted(present - set(known) - {TEACHER})
    return [*known, *others, *([TEACHER] if TEACHER in present else [])]


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
