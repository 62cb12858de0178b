"""What the test decided: every hypothesis of the plan against the tables, in plain words."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from blindsave.evidence.intervals import Contrast, adjust
from blindsave.evidence.plan import Hypothesis, Plan
from blindsave.evidence.principal import Principal
from blindsave.evidence.strata import Stratified

SUPPORTED, NOT_SUPPORTED, CONTRARY = "supported", "not supported", "contrary"


@dataclass(frozen=True)
class Verdict:
    """One hypothesis on one split."""

    id: str
    statement: str
    kind: str
    split: str
    verdict: str
    contrast: Contrast

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def decide(kind: str, contrast: Contrast) -> str:
    """Superiority: the interval is above zero. Equivalence: the 90 % interval is inside the margin.

    Contrary means the data show the opposite: an interval below zero, or one wholly outside the margin.
    """
    if kind == "superiority":
        return SUPPORTED if contrast.low > 0 else CONTRARY if contrast.high < 0 else NOT_SUPPORTED
    if contrast.equivalence.equivalent:
        return SUPPORTED
    outside = min(abs(contrast.low), abs(contrast.high)) > contrast.equivalence.margin
    return CONTRARY if outside and contrast.low * contrast.high > 0 else NOT_SUPPORTED


def verdicts(plan: Plan, results: Mapping[str, Principal | Stratified]) -> list[Verdict]:
    """Decide every hypothesis on every split it concerns and that is present; Holm within each split.

    `results` maps splits to their analysis: `principal` for endpoint splits, `noise` for the noise test.
    """
    found = []
    for split, result in results.items():
        asked = [h for h in plan.hypotheses if split in ((h.split,) if h.split else plan.splits)]
        found.extend(_on_split(plan, split, result, asked))
    return found


def _on_split(plan: Plan, split: str, result: Principal | Stratified, asked: Iterable[Hypothesis]) -> list[Verdict]:
    asked = list(asked)
    contrasts = adjust(_contrast(plan, result, hypothesis) for hypothesis in asked)
    return [
        Verdict(h.id, h.statement, h.kind, split, decide(h.kind, contrast), contrast)
        for h, contrast in zip(asked, contrasts, strict=True)
    ]


def _contrast(plan: Plan, result: Principal | Stratified, h: Hypothesis) -> Contrast:
    margin = plan.margin if h.margin_points is None else h.margin_points / 100
    if isinstance(result, Principal):
        return result.difference(h.a, h.b, plan.asked_at(h), margin)
    return result.difference("all", h.a, h.b, plan.asked_at(h), h.disturbance, margin)
