"""The paper's claims against our results: one plain verdict each."""

from dataclasses import dataclass

from blindsave.report.analysis import Analysis, percent
from blindsave.report.names import condition, ordered, short, title
from blindsave.report.published import Claim, claims, rate
from blindsave.report.sheet import Cell, Column, Estimate, Mark, Sheet, shown

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


def sheet(found: list[Finding]) -> Sheet:
    """The claims as a table."""
    columns = (
        Column("claim", "What the paper claims", words=True),
        Column("verdict", "Verdict"),
        Column("ours", "Ours"),
        Column("paper", "Paper"),
        Column("where", "Where in the paper", words=True),
    )
    rows = tuple((f.claim.statement, f.verdict, f.ours, f.claim.published, f.claim.where) for f in found)
    caption = (
        "Rates in percent, differences in percentage points, 95 % intervals in brackets. A difference is confirmed "
        "where our interval says the same as the paper's (above zero, or including it); a rate where either number "
        "lies inside the other's interval; “other size” where the conclusion is the same and the numbers are not."
    )
    return Sheet("claims", "Claim by claim", caption, columns, rows)


def comparison(analysis: Analysis, name: str = "paper-versus-ours") -> Sheet | None:
    """Principal save rates of the paper and ours, side by side."""
    test = analysis.splits.get("principal_test")
    if test is None:
        return None
    columns = (
        Column("policy", "Policy"),
        Column("blackout", "Hidden"),
        Column("paper", "Paper (%)"),
        Column("ours", "Ours (%)"),
        Column("difference", "Ours − paper"),
        Column("agree", "Agree?"),
    )
    rows: list[tuple[Cell, ...]] = []
    last = None
    for policy in ordered(test.saves.saved):
        for blackout in test.principal.blackouts:
            theirs = rate(policy, blackout)
            if theirs is None:
                continue
            ours = percent(test.principal.rate(policy, blackout))
            gap = Estimate(ours.value - theirs.value, signed=True)
            mark = (
                Mark("yes", "good") if compatible(ours, theirs) else Mark("higher" if gap.value > 0 else "lower", "odd")
            )
            rows.append((title(policy) if policy != last else "", condition(blackout), theirs, ours, gap.point, mark))
            last = policy
    caption = "Save rates on the principal test (seed 5303). Agree: either rate lies inside the other's 95 % interval."
    return Sheet(name, "Paper versus ours", caption, columns, tuple(rows))


def _judge(analysis: Analysis, claim: Claim) -> Finding:
    ours = {"difference": _difference, "rate": _rate, "fewer": _fewer}[claim.kind](analysis, claim)
    if ours is None:
        return Finding(claim, None, UNTESTED, f"{claim.statement}: not tested here.")
    if claim.kind == "difference":
        verdict = _verdict_of_difference(claim, ours)
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
    if claim.split == "noise_test":
        source, held = analysis.noise, analysis.noise_saves
    else:
        test = analysis.splits.get(claim.split)
        source, held = (None, None) if test is None else (test.subgroups, test.saves)
    if source is None or held is None or not {claim.a, claim.b} <= held.saved.keys():
        return None
    if claim.blackout not in held.blackouts or claim.disturbance not in held.disturbances:
        return None
    test = analysis.splits.get(claim.split)
    if claim.group == "all" and test is not None:
        return percent(test.principal.difference(claim.a, claim.b, claim.blackout, analysis.margin), True)
    return percent(source.difference(claim.group, claim.a, claim.b, claim.blackout, claim.disturbance), True)


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


def pair(a: str, b: str) -> str:
    """A difference in words for narrow places: "k = 0 − GRU-64"."""
    return f"{short(a)} − {short(b)}"
