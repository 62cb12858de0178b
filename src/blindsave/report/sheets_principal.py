"""Tables of one clean split: the complete comparison, rates at every length, training seeds, endings, teacher gaps."""

import pyarrow as pa

from blindsave.evidence.summaries import action_error, outcome_counts
from blindsave.report.analysis import LONGEST_TRAINED, Analysis, SplitResult, percent
from blindsave.report.names import TEACHER, milliseconds, ordered, title
from blindsave.report.sheet import Cell, Column, Number, Sheet
from blindsave.task.outcomes import Outcome

SPLIT_TITLES = {
    "principal_test": "principal test",
    "sealed_test": "sealed test",
    "validation": "validation shots",
    "noise_test": "noise test",
    "test": "memory-test shots",
}
ENDINGS = (Outcome.RETURNED, Outcome.ARRESTED, Outcome.SAFE_DEFLECTION, Outcome.GOAL_CONCEDED)


def complete_comparison(analysis: Analysis, test: SplitResult, name: str = "table-1") -> Sheet:
    """The paper's Table 1."""
    ms = milliseconds(analysis.endpoint)
    columns = (
        Column("family", "Family"),
        Column("save", f"{ms} ms save (%, 95 % CI)"),
        Column("overall", "Overall save (%)"),
        Column("parameters", "Total params"),
        Column("core_parameters", "Recurrent core params"),
        Column("carry_bytes", "Carried state (B)"),
        Column("recurrent_bytes", "Recurrent state (B)"),
        Column("macs", "MACs per step"),
        Column("latency_us", "Latency median (µs)"),
        Column("latency_p95_us", "Latency p95 (µs)"),
    )
    policies = [policy for policy in ordered(test.saves.saved) if analysis.endpoint in test.saves.blackouts]
    rows = tuple(_comparison_row(analysis, test, policy) for policy in policies)
    n, seeds = len(test.saves.shot_ids), len(test.saves.training_seeds())
    caption = (
        f"Mean of {_plural(seeds, 'training seed')} over the {n} shots of the "
        f"{SPLIT_TITLES.get(test.split, test.split)}; 95 % intervals from a {test.principal.how}. "
        f"Overall pools 0 to {milliseconds(LONGEST_TRAINED)} ms. Carried state "
        "is everything kept between steps; recurrent state leaves out the previous action and the observation stack. "
        "The teacher's interval is over shots alone."
    )
    return Sheet(name, "Complete comparison of the student families", caption, columns, rows, _teacher(policies))


def _comparison_row(analysis: Analysis, test: SplitResult, policy: str) -> tuple[Cell, ...]:
    rate = percent(test.principal.rate(policy, analysis.endpoint))
    overall = Number(100 * test.principal.overall(policy, LONGEST_TRAINED))
    cost = analysis.results.costs.families.get(policy)
    if cost is None:
        return (title(policy), rate, overall, *[None] * 7)
    timing = cost.timing
    median = None if timing is None else Number(timing.median_us, 2)
    p95 = None if timing is None or timing.p95_us is None else Number(timing.p95_us, 2)
    sizes = (cost.parameters, cost.core_parameters, cost.carry_bytes, cost.recurrent_bytes, cost.macs)
    return (title(policy), rate, overall, *sizes, median, p95)


def save_rates(test: SplitResult, name: str = "save-rates") -> Sheet:
    """Save rates with intervals at every blackout length."""
    lengths = test.principal.blackouts
    policies = ordered(test.saves.saved)
    columns = (Column("policy", "Policy"), *(Column(f"save_{n}", f"{milliseconds(n)} ms") for n in lengths))
    rows = tuple((title(p), *(percent(test.principal.rate(p, n)) for n in lengths)) for p in policies)
    extra = " 500 ms lies beyond the lengths seen in training." if max(lengths) > LONGEST_TRAINED else ""
    caption = f"Percent of shots saved by how long the puck is hidden, with 95 % intervals.{extra}"
    return Sheet(
        name, f"Save rates, {SPLIT_TITLES.get(test.split, test.split)}", caption, columns, rows, _teacher(policies)
    )


def per_seed(test: SplitResult, name: str = "seeds") -> Sheet:
    """Saves by training seed."""
    lengths = test.saves.blackouts
    columns = (
        Column("policy", "Policy"),
        Column("training_seed", "Seed"),
        *(Column(f"saves_{n}", f"{milliseconds(n)} ms") for n in lengths),
    )
    rows, last = [], None
    for policy in ordered(test.saves.saved):
        for i, seed in enumerate(test.saves.seeds[policy]):
            counts = [int(test.saves.at(policy, n)[i].sum()) for n in lengths]
            rows.append((title(policy) if policy != last else "", str(seed) if seed else None, *counts))
            last = policy
    caption = f"Shots saved out of {len(test.saves.shot_ids)} by every trained network."
    return Sheet(name, "Saves by training seed", caption, columns, tuple(rows))


def outcomes(test: SplitResult, table: pa.Table, name: str = "outcomes") -> Sheet:
    """How episodes ended, all lengths and every length."""
    counts = outcome_counts(table)
    columns = (
        Column("policy", "Policy"),
        Column("blackout_ms", "Hidden (ms)"),
        *(Column(ending.label, ending.label.replace("_", " ").capitalize()) for ending in ENDINGS),
        Column("timeout_after_contact", "Timed out after contact"),
        Column("other", "Other failure"),
    )
    known = {*(ending.label for ending in ENDINGS), Outcome.TIMEOUT_AFTER_CONTACT.label}
    rows, last = [], None
    for policy in ordered(test.saves.saved):
        for n in test.saves.blackouts:
            cell = counts[policy][str(n)]
            listed = [cell.get(ending.label, 0) for ending in ENDINGS]
            other = sum(count for label, count in cell.items() if label not in known)
            timeouts = cell.get(Outcome.TIMEOUT_AFTER_CONTACT.label, 0)
            rows.append((title(policy) if policy != last else "", milliseconds(n), *listed, timeouts, other))
            last = policy
    caption = "Episodes by how they ended, training seeds pooled. The first three endings count as saves."
    return Sheet(name, "How episodes ended", caption, columns, tuple(rows))


def teacher_gaps(test: SplitResult, name: str = "teacher-gaps") -> Sheet | None:
    """How far students stay below the teacher."""
    if TEACHER not in test.saves.saved:
        return None
    lengths = test.principal.blackouts
    gaps = test.principal.gaps(TEACHER)
    columns = (Column("policy", "Policy"), *(Column(f"gap_{n}", f"{milliseconds(n)} ms") for n in lengths))
    rows = tuple((title(p), *(Number(100 * gaps[p][n], 1, True) for n in lengths)) for p in ordered(gaps))
    return Sheet(name, "Teacher minus student", "Percentage points; below zero the student saves more.", columns, rows)


def action_errors(test: SplitResult, table: pa.Table, name: str = "action-error") -> Sheet | None:
    """Mean squared distance to the teacher's action where it was labelled."""
    found = action_error(table)
    if not found:
        return None
    lengths = test.saves.blackouts
    columns = (Column("policy", "Policy"), *(Column(f"mse_{n}", f"{milliseconds(n)} ms") for n in lengths))
    rows = []
    for policy in ordered(found):
        cells = [found[policy].get(str(n)) for n in lengths]
        rows.append((title(policy), *(None if cell is None else Number(cell, 4) for cell in cells)))
    caption = "Mean over episodes of the squared distance between the policy's action and the teacher's label."
    return Sheet(name, "Action error against the teacher", caption, columns, tuple(rows))


def sealed_beside_principal(principal: SplitResult, sealed: SplitResult, name: str = "sealed") -> Sheet:
    """Both tests side by side: do they agree?"""
    from blindsave.report.claims import compatible
    from blindsave.report.sheet import Mark

    lengths = [n for n in principal.principal.blackouts if n in sealed.principal.blackouts]
    columns = (
        Column("policy", "Policy"),
        Column("blackout_ms", "Hidden (ms)"),
        Column("principal", "Principal test (%)"),
        Column("sealed", "Sealed test (%)"),
        Column("agree", "Agree?"),
    )
    rows, last = [], None
    for policy in ordered(principal.saves.saved.keys() & sealed.saves.saved.keys()):
        for n in lengths:
            one, other = percent(principal.principal.rate(policy, n)), percent(sealed.principal.rate(policy, n))
            agree = compatible(one, other)
            mark = Mark("yes", "good") if agree else Mark("no", "odd")
            rows.append((title(policy) if policy != last else "", milliseconds(n), one, other, mark))
            last = policy
    caption = (
        "The sealed test's shots were drawn only after everything was frozen. Two rates agree where either lies inside "
        "the other's 95 % interval."
    )
    return Sheet(name, "Sealed test beside principal test", caption, columns, tuple(rows))


def _teacher(policies: list[str]) -> tuple[int, ...]:
    return tuple(i for i, policy in enumerate(policies) if policy == TEACHER)


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
