"""How policies are called and drawn: order, titles, colours (safe for colour-blind readers) and markers."""

from collections.abc import Iterable
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Look:
    """One policy's title and its colour on white and on dark ground; the marker tells it apart without colour."""

    title: str
    light: str
    dark: str
    marker: str


LOOKS = {
    "feed_forward": Look("Feed-forward", "#c04a00", "#ff8a47", "v"),
    "finite_stack_10": Look("Ten-step stack", "#b87700", "#f0b93a", "s"),
    "structured_k0": Look("Structured k = 0", "#0067a8", "#4db3f5", "o"),
    "structured_k1": Look("Structured k = 1", "#2f9ad6", "#9ad4f7", "^"),
    "structured_k2": Look("Structured k = 2", "#00805d", "#2fc79b", "D"),
    "structured_k4": Look("Structured k = 4", "#b7568e", "#ec9cc8", "P"),
    "gru_n64": Look("GRU-64", "#4b3a91", "#b3a2ff", "X"),
    "teacher": Look("Teacher", "#4d565f", "#aab4be", "*"),
    "teacher_sampled": Look("Teacher (sampled)", "#4d565f", "#aab4be", "*"),
    "teacher_reset": Look("Teacher, state erased", "#8a6d3b", "#d8b878", "h"),
    "ppo": Look("Memoryless PPO", "#c04a00", "#ff8a47", "v"),
}
MORE = (
    # light, dark, marker
    ("#7a7a00", "#cfcf4d", "<"),
    ("#8b3a3a", "#ef9a9a", ">"),
    ("#00757f", "#5fd3dd", "p"),
    ("#5a5a5a", "#c0c0c0", "H"),
)


def look(policy: str) -> Look:
    """A policy's look; one that is not of the study gets a fixed look derived from its name."""
    if policy in LOOKS:
        return LOOKS[policy]
    light, dark, marker = MORE[sum(policy.encode()) % len(MORE)]
    return Look(policy.replace("_", " "), light, dark, marker)


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
