"""What policies are called and drawn as, for people: titles, colours (safe for colour-blind readers), markers, lines.

One table for the report, the live arena and the figures of diagnostics. Policies of other names get colours that stand
apart from each other and from those of the table they are drawn with. The report uses the names of the study; films and
the live arena use plain words, with the technical name beside.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from blindsave.draw.family_names import core_and_size, family_short, family_title, sizes_by_core
from blindsave.draw.palette import apart


@dataclass(frozen=True)
class Look:
    """One policy's title and its colour on white and on dark ground; marker and line tell it apart without colour."""

    title: str
    light: str
    dark: str
    marker: str
    line: Any = "-"
    """A line style of Matplotlib."""


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
NAIVE = "_naive"
"""Ends the name of a family's students that learned without the faults which others learned with."""
MARKERS = ("<", ">", "p", "H", "d", "8", "v", "s", "o", "^", "D", "P", "X")
"""Markers of other policies, as far as those of the table are not drawn with them."""
LINES = ("-", (0, (7, 1.5, 1.5, 1.5)), (0, (1.2, 1.3)), (0, (7, 1.5, 1.5, 1.5, 1.5, 1.5)))
"""Line styles: the largest of a core's sizes is drawn whole. The teacher alone is dashed."""
PLAIN = {
    "feed_forward": "no memory",
    "finite_stack_10": "the last ten frames",
    "structured_k0": "linear memory",
    "structured_k1": "linear memory, 1 nonlinear mode",
    "structured_k2": "linear memory, 2 nonlinear modes",
    "structured_k4": "linear memory, 4 nonlinear modes",
    "gru_n64": "gated memory",
    "teacher": "the teacher",
    "ppo": "no memory, self-taught",
    "differences": "the last two frames",
    "least_squares": "a line through all frames",
    "kalman": "Kalman filter",
    "kalman_gated": "Kalman filter with a gate",
    "bayes": "Bayes filter",
    "planner": "sees everything, and plans",
    "privileged": "sees everything",
    "fixed_centre": "stays central",
    "inactive": "does nothing",
}
"""Policies in plain words, for people who have read nothing; the technical name stands beside."""


def looks(policies: Iterable[str]) -> dict[str, Look]:
    """The looks of policies that are drawn together; they do not depend on the order in which they are named."""
    names = sorted(set(policies), key=_by_core)
    known = [name for name in names if _known(name)]
    steps = {
        name: len(sizes) - 1 - i for sizes in sizes_by_core(names).values() for i, name in enumerate(sizes.values())
    }
    # The largest of every core chooses first: a figure of sizes has them all.
    others = sorted((name for name in names if not _known(name)), key=lambda name: steps.get(name, 0))
    # The teacher's grey is taken, whether it plays or not, and so are its star and its dashes.
    drawn = [look(name) for name in dict.fromkeys([*known, "teacher"])]
    colours = apart(len(others), [(one.light, one.dark) for one in drawn])
    markers = [marker for marker in MARKERS if marker not in {one.marker for one in drawn}] or list(MARKERS)
    found = {name: look(name) for name in known}
    for i, (name, (light, dark)) in enumerate(zip(others, colours, strict=True)):
        line = LINES[(steps.get(name, 0) + i // len(markers)) % len(LINES)]
        found[name] = Look(family_title(name), light, dark, markers[i % len(markers)], line)
    return found


def look(family: str) -> Look:
    """The look of a family, or of a policy without training seed, that is drawn alone."""
    return _known(family) or looks([family])[family]


def _known(family: str) -> Look | None:
    """A look of the table; naive students have their family's, dotted."""
    base = LOOKS.get(family.removesuffix(NAIVE))
    if base is None or family in LOOKS:
        return base
    return replace(base, title=f"{base.title}, naive", line=LINES[2])


def family_words(family: str) -> str:
    """What the report calls a family, or a policy without training seed."""
    known = _known(family)
    return known.title if known else family_title(family)


def short_words(family: str) -> str:
    """The same for narrow places."""
    known = _known(family)
    return known.title.replace("Structured ", "").replace("Ten-step ", "") if known else family_short(family)


def title(name: str) -> str:
    """A policy by its whole name: "Structured k = 0 (14303)", "Teacher"."""
    family, _, seed = name.partition("/")
    return f"{family_words(family)} ({seed})" if seed else family_words(family)


def plain_words(name: str) -> str:
    """A policy in plain words, without its training seed: "linear memory", "the teacher", "GRU, 16 units"."""
    family = name.partition("/")[0]
    return PLAIN.get(family) or family_words(family)


def _by_core(name: str) -> tuple[str, int]:
    core, size = core_and_size(name)
    return core, size or 0
