"""The paper's claims against our results: one plain verdict each."""

from dataclasses import dataclass

from blindsave.report.analysis import Analysis, percent
from blindsave.report.published import Claim, claims
from blindsave.report.sheet import Estimate, Mark, shown
from blindsave.report.verdicts import BEFORE, only_before_correction

CONFIRMED = Mark("confirmed", "good")
OTHER_SIZE = Mark("confirmed, other size", "good")
NOT_CONFIRMED = Mark("not confirmed", "odd")
CLEAR = Mark("clear difference here", "odd")
CONTRADICTED = Mark("contradicted", "bad")
UNTESTED = Mark("not tested", "none")
CLOSE_PERCENT = 0.05
"""Costs that agree to the published decimal agree."""


@dataclass(frozen=True)
class Finding:
    """A claim, our number for it (None where nothing was recorded), the verdict, and a sentence that says it all."""

    claim: Claim
    ours: Estimate | None
    verdict: Mark
    sentence: str


def findings(analysis: Analysis) -> list[Finding]:
    """Judge every claim."""
    return [_judge(analysis, claim) for claim in claims()]


def compatible(one: Estimate, other: Estimate) -> bool:
    """Whether either number lies inside the other's interval (equal at the shown decimals where none has one)."""
    return _inside(one.value, other) or _inside(other.value, one)


def agreement(one: Estimate, other: Estimate, otherwise: str = "no") -> Mark:
    """Whether two rates are compatible, as a cell of a table."""
    return Mark("yes", "good") if compatible(one, other) else Mark(otherwise, "odd")


def _judge(analysis: Analysis, claim: Claim) -> Finding:
    ours = {"difference": _difference, "rate": _rate, "fewer": _fewer}[claim.kind](analysis, claim)
    if ours is None:
        return Finding(claim, None, UNTESTED, f"{claim.statement}: not tested here.")
    if claim.kind == "difference":
        verdict = _verdict_of_difference(claim, ours)
        cell = (claim.split, claim.a, claim.b, claim.blackout, claim.disturbance)
        if verdict.tone == "good" and claim.group == "all" and only_before_correction(analysis.verdicts, *cell):
            verdict = BEFORE
    elif claim.kind == "rate":
        verdict = CONFIRMED if compatible(ours, claim.published) else NOT_CONFIRMED
    else:
        close = abs(ours.value - claim.published.value) < CLOSE_PERCENT + 1e-9
        verdict = CONFIRMED if close else OTHER_SIZE if ours.value > 0 else CONTRADICTED
    return Finding(claim, ours, verdict, _sentence(claim, ours, verdict))


def _verdict_of_difference(claim: Claim, ours: Estimate) -> Mark:
    low, high = ours.low or 0.0, ours.high or 0.0
    found = "above" if low > 0 else "below" if high < 0 else "none"
    if found == claim.expect:
        return CONFIRMED if compatible(ours, claim.published) else OTHER_SIZE
    if claim.expect == "none":
        return CLEAR
    return CONTRADICTED if found == "below" else NOT_CONFIRMED


def _sentence(claim: Claim, ours: Estimate, verdict: Mark) -> str:
    unit = "points" if claim.kind == "difference" else "%"
    return (
        f"{claim.statement}: {verdict}. Ours {_with_unit(ours, unit)}, the paper's {_with_unit(claim.published, unit)}."
    )


def _with_unit(number: Estimate, unit: str) -> str:
    return f"{number.point} {unit} {number.span}".strip()


def _difference(analysis: Analysis, claim: Claim) -> Estimate | None:
    if claim.split == "test":
        return next((percent(c, True) for c in analysis.memory.get(claim.b, ()) if c.blackout == claim.blackout), None)
    policies, at = {claim.a, claim.b}, claim.blackout
    if claim.split == "noise_test":
        noise = analysis.noise
        if noise is None or not noise.covers(policies, at, claim.disturbance):
            return None
        return percent(noise.rates.difference(claim.group, claim.a, claim.b, at, claim.disturbance), True)
    test = analysis.splits.get(claim.split)
    if test is None or not policies <= test.saves.saved.keys() or at not in test.saves.blackouts:
        return None
    if claim.group == "all":
        return percent(test.principal.difference(claim.a, claim.b, at, analysis.margin), True)
    return percent(test.subgroups.difference(claim.group, claim.a, claim.b, at), True)


def _rate(analysis: Analysis, claim: Claim) -> Estimate | None:
    test = analysis.splits.get(claim.split)
    if test is None or claim.a not in test.saves.saved or claim.blackout not in test.saves.blackouts:
        return None
    if claim.group == "all":
        return percent(test.principal.rate(claim.a, claim.blackout))
    return percent(test.subgroups.rate(claim.group, claim.a, claim.blackout))


def _fewer(analysis: Analysis, claim: Claim) -> Estimate | None:
    costs = analysis.results.costs.families
    if not {claim.a, claim.b} <= costs.keys():
        return None
    a, b = (getattr(costs[name], claim.cost) for name in (claim.a, claim.b))
    return None if a is None or not b else Estimate(100 * (1 - a / b))


def _inside(value: float, other: Estimate) -> bool:
    if other.low is None or other.high is None:
        return shown(value, other.decimals) == shown(other.value, other.decimals)
    slack = 0.5 * 10**-other.decimals  # intervals are compared as they are printed
    return other.low - slack <= value <= other.high + slack
