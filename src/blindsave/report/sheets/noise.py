"""Tables of the noise extension."""

from blindsave.report.analysis import Analysis, NoiseResult, percent
from blindsave.report.names import condition, milliseconds, ordered, pair, sigma_mm, title, under
from blindsave.report.published import noise
from blindsave.report.registry import tables
from blindsave.report.sheet import Cell, Column, Sheet

GROUPS = ("all", "alias", "support")


@tables("noise", needs="noise")
def noise_rates(_analysis: Analysis, found: NoiseResult) -> Sheet | None:
    """The paper's noise table, where noise was played."""
    held, rates = found.saves, found.rates
    levels = sorted((d for d in held.disturbances if sigma_mm(d) < float("inf")), key=sigma_mm)
    if len(levels) < 2 and len(held.disturbances) > 1:
        return None
    cells = [(n, d) for n in held.blackouts for d in levels]
    columns = (
        Column("policy", "Policy / σ (mm)"),
        *(Column(f"save_{n}_{d}", f"{sigma_mm(d):g}", _blackout_title(n)) for n, d in cells),
    )
    rows = []
    for policy in ordered(held.saved):
        rows.append((title(policy), *(percent(rates.rate("all", policy, n, d)) for n, d in cells)))
        theirs = [noise(policy, n, sigma_mm(d)) for n, d in cells]
        if any(theirs):
            rows.append(("    paper", *theirs))
    caption = (
        f"Save rates (%) on {len(held.shot_ids)} fresh shots, without retraining. σ is the standard deviation of the "
        f"noise on every visible puck position, per axis. Pointwise 95 % intervals, {rates.how}."
    )
    return Sheet("noise", "Sensitivity to puck-position noise", caption, columns, tuple(rows))


@tables("noise", needs="noise")
def fault_rates(_analysis: Analysis, found: NoiseResult) -> Sheet | None:
    """Every other condition, where others were played."""
    held, rates = found.saves, found.rates
    others = [d for d in held.disturbances if sigma_mm(d) == float("inf")]
    if not others:
        return None
    policies = ordered(held.saved)
    columns = (Column("condition", "Condition"), *(Column(policy, title(policy)) for policy in policies))
    rows = [
        (condition(n, d), *(percent(rates.rate("all", policy, n, d)) for policy in policies))
        for n in held.blackouts
        for d in (*(d for d in held.disturbances if d == "clean"), *others)
    ]
    caption = (
        f"Save rates (%) on {len(held.shot_ids)} fresh shots; every policy meets the same errors. Pointwise 95 % "
        f"intervals, {rates.how}. Conditions: {', '.join(map(under, others))}."
    )
    return Sheet("conditions", "When the tracker is wrong", caption, columns, tuple(rows))


@tables("noise", needs="noise", folded=True)
def noise_contrasts(analysis: Analysis, found: NoiseResult) -> Sheet:
    """Differences under noise, and what noise does to each policy."""
    held, rates = found.saves, found.rates
    groups = [group for group in GROUPS if group in rates.points]
    columns = (
        Column("contrast", "Difference"),
        Column("condition", "Condition"),
        *(Column(group, f"{group.capitalize()} shots") for group in groups),
    )
    levels = sorted(held.disturbances, key=sigma_mm)
    pairs = [(a, b) for a, b in analysis.pairs("noise") if {a, b} <= held.saved.keys()]
    rows: list[tuple[Cell, ...]] = [
        (pair(a, b), condition(n, d), *(percent(rates.difference(group, a, b, n, d), True) for group in groups))
        for n in held.blackouts
        for d in levels
        for a, b in pairs
    ]
    rows += [
        (
            f"{title(policy)}: noisy − clean",
            condition(n, d),
            *(percent(rates.noise_effect(group, policy, n, d), True) for group in groups),
        )
        for policy in (ordered(held.saved) if "clean" in levels else ())
        for n in held.blackouts
        for d in levels
        if d != "clean"
    ]
    caption = "Percentage points with pointwise 95 % intervals, without adjustment."
    return Sheet("noise-contrasts", "Differences under noise", caption, columns, tuple(rows))


def _blackout_title(blackout: int) -> str:
    return "No blackout" if blackout == 0 else f"{milliseconds(blackout)} ms blackout"
