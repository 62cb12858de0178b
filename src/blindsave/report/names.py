"""How the report calls policies and conditions, and in which order; titles and colours are those of `draw`."""

from collections.abc import Iterable

from blindsave.draw.policy_looks import look
from blindsave.policies.students.registry import PAPER_FAMILIES

CONTROL_DT_MS = 20
TEACHER = "teacher"


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


def milliseconds(blackout: int) -> int:
    """Control steps as milliseconds."""
    return blackout * CONTROL_DT_MS


def condition(blackout: int, disturbance: str = "clean") -> str:
    """A condition in words: "400 ms", "400 ms, noise 5 mm"."""
    base = f"{milliseconds(blackout)} ms"
    if disturbance == "clean":
        return base
    return f"{base}, {disturbance.replace('_', ' ').replace('mm', ' mm')}"
