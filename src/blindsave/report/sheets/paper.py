"""Our results beside the paper's: claim by claim, and save rate by save rate."""

from blindsave.report.analysis import Analysis, SplitResult, percent
from blindsave.report.claims import agreement, findings
from blindsave.report.names import condition, ordered, title
from blindsave.report.published import rate
from blindsave.report.registry import tables
from blindsave.report.sheet import Column, Estimate, Sheet, grouped


@tables("paper")
def claims(analysis: Analysis) -> Sheet:
    """The claims as a table."""
    columns = (
        Column("claim", "What the paper claims", words=True),
        Column("verdict", "Verdict"),
        Column("ours", "Ours"),
        Column("paper", "Paper"),
        Column("where", "Where in the paper", words=True),
    )
    rows = [(f.claim.statement, f.verdict, f.ours, f.claim.published, f.claim.where) for f in findings(analysis)]
    caption = (
        "Rates in percent, differences in percentage points, 95 % intervals in brackets. A difference is confirmed "
        "where our interval says the same as the paper's (above zero, or including it); a rate where either number "
        "lies inside the other's interval; “other size” where the conclusion is the same and the numbers are not; "
        "“before correction only” where the plan asked the same and Holm's adjusted p is 0.05 or more."
    )
    return Sheet("claims", "Claim by claim", caption, columns, tuple(rows))


@tables("paper", needs="principal_test", folded=True)
def comparison(_analysis: Analysis, test: SplitResult) -> Sheet:
    """Principal save rates of the paper and ours, side by side."""
    columns = (
        Column("policy", "Policy"),
        Column("blackout", "Hidden"),
        Column("paper", "Paper (%)"),
        Column("ours", "Ours (%)"),
        Column("difference", "Ours − paper"),
        Column("agree", "Agree?"),
    )
    rows = []
    for policy in ordered(test.saves.saved):
        for blackout in test.principal.blackouts:
            theirs = rate(policy, blackout)
            if theirs is not None:
                ours = percent(test.principal.rate(policy, blackout))
                gap = Estimate(ours.value - theirs.value, signed=True)
                mark = agreement(ours, theirs, "higher" if gap.value > 0 else "lower")
                rows.append((title(policy), condition(blackout), theirs, ours, gap.point, mark))
    caption = "Save rates on the principal test (seed 5303). Agree: either rate lies inside the other's 95 % interval."
    return Sheet("paper-versus-ours", "Paper versus ours", caption, columns, grouped(rows))
