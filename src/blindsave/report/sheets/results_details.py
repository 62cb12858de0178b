"""Tables of the test that the page folds away: subgroups, both tests, seeds, endings, gaps, power, validation."""

from blindsave.evidence.summaries import action_error, outcome_counts
from blindsave.report.analysis import Analysis, SplitResult, percent
from blindsave.report.claims import agreement
from blindsave.report.names import TEACHER, milliseconds, ordered, pair, title
from blindsave.report.registry import tables
from blindsave.report.sheet import Column, Number, Sheet, grouped
from blindsave.report.sheets.results import by_length, rates_of
from blindsave.task.outcomes import Outcome

GROUPS = ("alias", "support")
ENDINGS = (Outcome.RETURNED, Outcome.ARRESTED, Outcome.SAFE_DEFLECTION, Outcome.GOAL_CONCEDED)


@tables("results", needs="main", folded=True)
def subgroups(_analysis: Analysis, test: SplitResult) -> Sheet:
    """Save rates of alias and support shots at every length."""
    lengths, rates, present = test.saves.blackouts, test.subgroups, _groups(test)
    columns = (Column("policy", "Policy"), *(c for g in present for c in by_length(g, lengths, _group_title(g))))
    rows = tuple(
        (title(p), *(percent(rates.rate(g, p, n)) for g in present for n in lengths)) for p in ordered(test.saves.saved)
    )
    caption = (
        "Post hoc. Alias shots come in pairs that look alike when the puck disappears; support shots come from the "
        f"sides. Percent saved with pointwise 95 % intervals, {test.subgroups.how}."
    )
    return Sheet("subgroups", "Subgroups of shots", caption, columns, rows)


@tables("results", needs="main", folded=True)
def subgroup_contrasts(analysis: Analysis, test: SplitResult) -> Sheet | None:
    """Differences within alias and support shots at the endpoint and beyond."""
    lengths = [n for n in test.saves.blackouts if n >= analysis.endpoint]
    pairs = [(a, b) for a, b in analysis.pairs("subgroups") if {a, b} <= test.saves.saved.keys()]
    present, rates = _groups(test), test.subgroups
    if not lengths or not present:
        return None
    columns = (Column("contrast", "Difference"), *(c for g in present for c in by_length(g, lengths, _group_title(g))))
    rows = tuple(
        (pair(a, b), *(percent(rates.difference(g, a, b, n), True) for g in present for n in lengths)) for a, b in pairs
    )
    caption = "Post hoc, percentage points, pointwise 95 % intervals without adjustment."
    return Sheet("subgroup-contrasts", "Differences within subgroups", caption, columns, rows)


@tables("results", needs="both_tests", folded=True)
def sealed_beside_principal(_analysis: Analysis, both: tuple[SplitResult, SplitResult]) -> Sheet:
    """Both tests side by side: do they agree?"""
    principal, sealed = both
    lengths = [n for n in principal.principal.blackouts if n in sealed.principal.blackouts]
    columns = (
        Column("policy", "Policy"),
        Column("blackout_ms", "Hidden (ms)"),
        Column("principal", "Principal test (%)"),
        Column("sealed", "Sealed test (%)"),
        Column("agree", "Agree?"),
    )
    rows = []
    for policy in ordered(principal.saves.saved.keys() & sealed.saves.saved.keys()):
        for n in lengths:
            one, other = (percent(test.principal.rate(policy, n)) for test in both)
            rows.append((title(policy), milliseconds(n), one, other, agreement(one, other)))
    caption = (
        "The sealed test's shots were drawn only after everything was frozen. Two rates agree where either lies inside "
        "the other's 95 % interval."
    )
    return Sheet("sealed", "Sealed test beside principal test", caption, columns, grouped(rows))


@tables("results", needs="main", folded=True)
def per_seed(_analysis: Analysis, test: SplitResult) -> Sheet:
    """Saves by training seed."""
    lengths = test.saves.blackouts
    columns = (Column("policy", "Policy"), Column("training_seed", "Seed"), *by_length("saves", lengths))
    rows = [
        (title(p), str(seed) if seed else None, *(int(test.saves.at(p, n)[i].sum()) for n in lengths))
        for p in ordered(test.saves.saved)
        for i, seed in enumerate(test.saves.seeds[p])
    ]
    caption = f"Shots saved out of {len(test.saves.shot_ids)} by every trained network."
    return Sheet("seeds", "Saves by training seed", caption, columns, grouped(rows))


@tables("results", needs="main", folded=True)
def outcomes(_analysis: Analysis, test: SplitResult) -> Sheet:
    """How episodes ended, all lengths and every length."""
    counts = outcome_counts(test.table)
    columns = (
        Column("policy", "Policy"),
        Column("blackout_ms", "Hidden (ms)"),
        *(Column(ending.label, ending.label.replace("_", " ").capitalize()) for ending in ENDINGS),
        Column("timeout_after_contact", "Timed out after contact"),
        Column("other", "Other failure"),
    )
    known = [*(ending.label for ending in ENDINGS), Outcome.TIMEOUT_AFTER_CONTACT.label]
    rows = []
    for policy in ordered(test.saves.saved):
        for n in test.saves.blackouts:
            cell = counts[policy][str(n)]
            listed = [cell.get(label, 0) for label in known]
            rows.append((title(policy), milliseconds(n), *listed, sum(cell.values()) - sum(listed)))
    caption = "Episodes by how they ended, training seeds pooled. The first three endings count as saves."
    return Sheet("outcomes", "How episodes ended", caption, columns, grouped(rows))


@tables("results", needs="main", folded=True)
def teacher_gaps(_analysis: Analysis, test: SplitResult) -> Sheet | None:
    """How far students stay below the teacher."""
    if TEACHER not in test.saves.saved:
        return None
    lengths, gaps = test.principal.blackouts, test.principal.gaps(TEACHER)
    columns = (Column("policy", "Policy"), *by_length("gap", lengths))
    rows = tuple((title(p), *(Number(100 * gaps[p][n], 1, True) for n in lengths)) for p in ordered(gaps))
    caption = "Percentage points; below zero the student saves more."
    return Sheet("teacher-gaps", "Teacher minus student", caption, columns, rows)


@tables("results", needs="main", folded=True)
def action_errors(_analysis: Analysis, test: SplitResult) -> Sheet:
    """Mean squared distance to the teacher's action where it was labelled."""
    found, lengths = action_error(test.table), test.saves.blackouts
    columns = (Column("policy", "Policy"), *by_length("mse", lengths))
    rows = tuple(
        (title(p), *(None if (cell := found[p].get(str(n))) is None else Number(cell, 4) for n in lengths))
        for p in ordered(found)
    )
    caption = "Mean over episodes of the squared distance between the policy's action and the teacher's label."
    return Sheet("action-error", "Action error against the teacher", caption, columns, rows)


@tables("results", needs="main", folded=True)
def power(analysis: Analysis, test: SplitResult) -> Sheet:
    """How large a study would have to be."""
    margin, none = f"{100 * analysis.margin:g}", "no number suffices"
    columns = (
        Column("contrast", "Difference"),
        Column("resolvable", "Resolvable now (points)"),
        Column("shots", f"Shots needed for {margin} points"),
        Column("seeds", f"Seeds needed for {margin} points"),
    )
    rows = tuple(
        (
            pair(p.a, p.b),
            Number(100 * p.resolvable_now, 1),
            *(none if needed is None else needed for needed in (p.shots_needed, p.seeds_needed)),
        )
        for p in test.power(analysis.margin)
    )
    caption = (
        "From the variance between training seeds and between shots found here: the true difference that this design "
        "detects with 80 % power, and how many shots (with these seeds) or seeds (with these shots) would detect the "
        "margin with the same power."
    )
    return Sheet("power", "What this design can resolve", caption, columns, rows)


@tables("results", folded=True)
def validation_rates(analysis: Analysis) -> Sheet | None:
    """Save rates on the validation shots, where another test is the main one."""
    found = analysis.splits.get("validation")
    return None if found is None or found is analysis.main else rates_of(found, "validation-rates")


def _groups(test: SplitResult) -> list[str]:
    return [group for group in GROUPS if group in test.subgroups.points]


def _group_title(group: str) -> str:
    return f"{group.capitalize()} shots"
