"""Tables of differences: planned contrasts, power, hypotheses, subgroups."""

from blindsave.evidence.hypotheses import CONTRARY, SUPPORTED, Verdict
from blindsave.evidence.paired import Discordance
from blindsave.evidence.strata import SUBGROUP_PAIRS
from blindsave.report.analysis import Analysis, SplitResult, percent
from blindsave.report.claims import pair
from blindsave.report.names import milliseconds, ordered, title
from blindsave.report.published import difference
from blindsave.report.sheet import Cell, Column, Estimate, Mark, Number, Sheet
from blindsave.report.sheets_principal import SPLIT_TITLES

GROUPS = ("alias", "support")


def contrasts(analysis: Analysis, test: SplitResult, name: str = "contrasts") -> Sheet | None:
    """Planned differences at the endpoint, with everything that may be said of each."""
    columns = (
        Column("contrast", "Difference"),
        Column("set", "Planned set"),
        Column("estimate", "Points (95 % CI)"),
        Column("paper", "Paper"),
        Column("p", "p"),
        Column("p_holm", "p, Holm"),
        Column("tost", "90 % CI"),
        Column("equivalent", f"Within ±{100 * analysis.margin:g}?"),
        Column("only_a", "Only first saved"),
        Column("only_b", "Only second saved"),
        Column("mcnemar", "McNemar p by seed"),
    )
    rows: list[tuple[Cell, ...]] = []
    for set_, members in test.contrasts.items():
        for c in members:
            counts = test.discordances[c.a, c.b]
            inner = c.equivalence
            tost = Estimate(inner.p, decimals=3).point
            rows.append(
                (
                    pair(c.a, c.b),
                    set_,
                    percent(c, True),
                    difference(c.a, c.b),
                    _p(c.p),
                    None if c.p_holm is None else _p(c.p_holm),
                    f"[{Number(100 * inner.low)}, {Number(100 * inner.high)}]",
                    Mark(f"yes, p {_p(inner.p)}", "good") if inner.equivalent else Mark(f"no, p {tost}", "none"),
                    sum(count.only_a for count in counts),
                    sum(count.only_b for count in counts),
                    _mcnemar(counts),
                )
            )
    if not rows:
        return None
    caption = (
        f"Paired differences in save rate at {milliseconds(analysis.endpoint)} ms; positive values favour the first. "
        f"Pointwise 95 % intervals from a {test.principal.how}; p alone and after Holm's adjustment within its planned "
        "set. Equivalent: "
        f"the 90 % interval lies inside ±{100 * analysis.margin:g} points (two one-sided tests). The last columns "
        "pair shot by shot over all seeds; McNemar's exact p is for each trained network by itself."
    )
    return Sheet(name, "Planned differences", caption, columns, tuple(rows))


def power(analysis: Analysis, test: SplitResult, name: str = "power") -> Sheet | None:
    """How large a study would have to be."""
    if not test.power:
        return None
    columns = (
        Column("contrast", "Difference"),
        Column("resolvable", "Resolvable now (points)"),
        Column("shots", f"Shots needed for {100 * analysis.margin:g} points"),
        Column("seeds", f"Seeds needed for {100 * analysis.margin:g} points"),
    )
    rows = tuple(
        (
            pair(p.a, p.b),
            Number(100 * p.resolvable_now, 1),
            p.shots_needed if p.shots_needed is not None else "no number suffices",
            p.seeds_needed if p.seeds_needed is not None else "no number suffices",
        )
        for p in test.power
    )
    caption = (
        "From the variance between training seeds and between shots seen here: the true difference this design finds "
        "four times in five, and how many shots (with these seeds) or seeds (with these shots) would find the margin "
        "as often."
    )
    return Sheet(name, "What this design can resolve", caption, columns, rows)


def hypotheses(found: tuple[Verdict, ...], name: str = "hypotheses") -> Sheet | None:
    """The plan's hypotheses and what the tests decided."""
    if not found:
        return None
    columns = (
        Column("hypothesis", "Hypothesis of the plan", words=True),
        Column("verdict", "Verdict"),
        Column("estimate", "Points (95 % CI)"),
        Column("test", "Test"),
        Column("kind", "Kind"),
        Column("p_holm", "p, Holm"),
        Column("p_equivalence", "p, equivalence"),
    )
    tones = {SUPPORTED: "good", CONTRARY: "bad"}
    rows = tuple(
        (
            f"{v.statement[:1].upper()}{v.statement[1:]}",
            Mark(v.verdict, tones.get(v.verdict, "odd")),
            percent(v.contrast, True),
            SPLIT_TITLES.get(v.split, v.split),
            v.kind,
            _p(v.contrast.p_holm) if v.kind == "superiority" and v.contrast.p_holm is not None else None,
            _p(v.contrast.equivalence.p) if v.kind == "equivalence" else None,
        )
        for v in found
    )
    caption = (
        "Superiority is supported where the 95 % interval lies above zero; equivalence where the 90 % interval lies "
        "inside the plan's margin. “Not supported” is not “refuted”: the data leave it open."
    )
    return Sheet(name, "Hypotheses fixed before the test was opened", caption, columns, rows)


def subgroups(test: SplitResult, name: str = "subgroups") -> Sheet:
    """Save rates of alias and support shots at every length."""
    lengths = test.saves.blackouts
    present = [group for group in GROUPS if group in test.subgroups.points]
    columns = (
        Column("policy", "Policy"),
        *(Column(f"{g}_{n}", f"{milliseconds(n)} ms", f"{g.capitalize()} shots") for g in present for n in lengths),
    )
    rows = tuple(
        (title(p), *(percent(test.subgroups.rate(g, p, n)) for g in present for n in lengths))
        for p in ordered(test.saves.saved)
    )
    caption = (
        "Post hoc. Alias shots come in pairs that look alike when the puck disappears; support shots come from the "
        f"sides. Percent saved with pointwise 95 % intervals, {test.subgroups.how}."
    )
    return Sheet(name, "Subgroups of shots", caption, columns, rows)


def subgroup_contrasts(test: SplitResult, endpoint: int, name: str = "subgroup-contrasts") -> Sheet | None:
    """Differences within alias and support shots at the endpoint and beyond."""
    lengths = [n for n in test.saves.blackouts if n >= endpoint]
    pairs = [(a, b) for a, b in SUBGROUP_PAIRS if {a, b} <= test.saves.saved.keys()]
    present = [group for group in GROUPS if group in test.subgroups.points]
    if not lengths or not pairs or not present:
        return None
    columns = (
        Column("contrast", "Difference"),
        *(Column(f"{g}_{n}", f"{milliseconds(n)} ms", f"{g.capitalize()} shots") for g in present for n in lengths),
    )
    rows = tuple(
        (pair(a, b), *(percent(test.subgroups.difference(g, a, b, n), True) for g in present for n in lengths))
        for a, b in pairs
    )
    caption = "Post hoc, percentage points, pointwise 95 % intervals without adjustment."
    return Sheet(name, "Differences within subgroups", caption, columns, rows)


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _mcnemar(counts: tuple[Discordance, ...]) -> str:
    return ", ".join("<.001" if count.p < 0.001 else f"{count.p:.2f}" for count in counts)
