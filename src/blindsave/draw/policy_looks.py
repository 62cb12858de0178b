"""What policies are called and drawn as, for people: titles, colours (safe for colour-blind readers) and markers.

One table for the report, the live arena and the figures of diagnostics. A policy of another name gets a fixed look
derived from that name. The report names scripted policies plainly ("fixed centre"); the live arena says what they do.
"""

from dataclasses import dataclass


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
DOES = {"privileged": "Sees everything", "fixed_centre": "Stays central", "inactive": "Does nothing"}
"""What scripted policies do, as the live arena calls them."""


def look(family: str) -> Look:
    """The look of a family, or of a policy without training seed."""
    if family in LOOKS:
        return LOOKS[family]
    light, dark, marker = MORE[sum(family.encode()) % len(MORE)]
    return Look(family.replace("_", " "), light, dark, marker)


def title(name: str) -> str:
    """A policy by its whole name: "Structured k = 0 (14303)", "Teacher", "Does nothing"."""
    family, _, seed = name.partition("/")
    words = DOES.get(family) or look(family).title
    return f"{words} ({seed})" if seed else words
