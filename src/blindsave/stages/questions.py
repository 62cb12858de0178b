"""What a study asks of its results: differences, hypotheses, margin and method."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from blindsave.draw.family_names import sizes_by_core
from blindsave.evidence.plan import Hypothesis
from blindsave.policies.students.registry import PAPER_FAMILIES

SETS = ("primary", "secondary", "subgroups", "noise")
"""The sets of differences that a plan has; Holm's adjustment is made within each."""
USUAL_REFERENCE = "structured_k0"
TEACHER = "teacher"
Pair = tuple[str, str]


@dataclass(frozen=True)
class Questions:
    """What a study file says about the analysis; None and nothing where it is silent."""

    reference: str | None = None
    """The family that every other one is compared with."""
    contrasts: tuple[tuple[str, tuple[Pair, ...]], ...] | None = None
    """Sets of pairs by name, in place of those made from the reference."""
    hypotheses: tuple[Hypothesis, ...] | None = None
    margin_points: float | None = None
    method: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """What was said, as plain values for JSON."""
        said: dict[str, Any] = {one.name: getattr(self, one.name) for one in fields(self)}
        if self.contrasts is not None:
            said["contrasts"] = {name: [list(pair) for pair in pairs] for name, pairs in self.contrasts}
        if self.hypotheses is not None:
            said["hypotheses"] = [as_written(one) for one in self.hypotheses]
        return {name: value for name, value in said.items() if value is not None}

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> "Questions":
        """What `to_dict` wrote."""
        values = dict(found)
        if "contrasts" in values:
            sets = values["contrasts"].items()
            values["contrasts"] = tuple((name, tuple((a, b) for a, b in pairs)) for name, pairs in sets)
        if "hypotheses" in values:
            values["hypotheses"] = tuple(Hypothesis(**one) for one in values["hypotheses"])
        return cls(**values)


def as_written(hypothesis: Hypothesis) -> dict[str, Any]:
    """A hypothesis as a plan writes it: without what is as usual."""
    usual = {"split": None, "disturbance": "clean", "margin_points": None, "blackout": None}
    return {name: value for name, value in asdict(hypothesis).items() if (name, value) not in usual.items()}


def usual_reference(families: Sequence[str]) -> str:
    """The family that others are compared with where nobody says which: the paper's linear memory, or the first."""
    return USUAL_REFERENCE if USUAL_REFERENCE in families else families[0]


def answered_by_the_paper(families: Sequence[str]) -> bool:
    """Whether the published plan compares all of these families."""
    return USUAL_REFERENCE in families and set(families) <= set(PAPER_FAMILIES)


def made_contrasts(families: Sequence[str], reference: str, noisy: Sequence[str]) -> dict[str, list[list[str]]]:
    """Every family against the reference; then the sizes of each core against its largest."""
    primary = [[name, reference] for name in families if name != reference]
    largest = {
        name: sized[max(sized)] for sized in sizes_by_core(families).values() for name in list(sized.values())[:-1]
    }
    known = {frozenset(pair) for pair in primary}
    sizes = [[name, top] for name, top in largest.items() if frozenset((name, top)) not in known]
    disturbed = [pair for pair in [*primary, [reference, TEACHER]] if set(pair) <= set(noisy)]
    return {
        "primary": primary,
        "secondary": sizes,
        "subgroups": [*primary, [reference, TEACHER]],
        "noise": disturbed,
    }
