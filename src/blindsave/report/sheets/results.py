"""The main tables of the test: the complete comparison, rates at every length, planned differences."""

from blindsave.evidence.paired import Discordance
from blindsave.report.analysis import LONGEST_TRAINED, Analysis, SplitResult, percent
from blindsave.report.names import TEACHER, milliseconds, ordered, pair, split_title, title
from blindsave.report.published import difference
from blindsave.report.registry import tables
from blindsave.report.sheet import Cell, Column, Mark, Number, Sheet, p_value


@tables("results", needs="main_at_endpoint")
def complete_comparison(analysis: Analysis, test: SplitResult) -> Sheet:
    """The paper's Table 1."""
    columns = (
        Column("family", "Family"),
        Column("save", f"{milliseconds(analysis.endpoint)} ms save (%, 95 % CI)"),
        Column("overall", "Overall save (%)"),
        Column("parameters", "Total params"),
        Column("core_parameters", "Recurrent core params"),
        Column("carry_bytes", "Carried state (B)"),
        Column("recurrent_bytes", "Recurrent state (B)"),
        Column("macs", "MACs per step"),
        Column("latency_us", "Latency median (µs)"),
        Column("latency_p95_us", "Latency p95 (µs)"),
    )
    policies = ordered(test.saves.saved)
    rows = tuple(_comparison_row(analysis, test, policy) for policy in policies)
    n, seeds = len(test.saves.shot_ids), len(test.saves.training_seeds())
    caption = (
        f"Mean of {seeds} training seed{'' if seeds == 1 else 's'} over the {n} shots of the "
        f"{split_title(test.split)}; 95 % intervals from a {test.principal.how}. "
        f"Overall pools 0 to {milliseconds(LONGEST_TRAINED)} ms. Carried state "
        "is everything kept between steps; recurrent state leaves out the previous action and the observation stack. "
        "The teacher's interval is over shots alone."
    )
    heading = "Complete comparison of the student families"
    return Sheet("table-1", heading, caption, columns, rows, _teacher(policies))


def _comparison_row(analysis: Analysis, test: SplitResult, policy: str) -> tuple[Cell, ...]:
    rate = percent(test.principal.rate(policy, analysis.endpoint))
    overall = Number(100 * test.principal.overall(policy, LONGEST_TRAINED))
    cost = analysis.results.costs.families.get(policy)
    return (title(policy), rate, overall, *([None] * 7 if cost is None else cost.cells))


@tables("results", needs="main")
def save_rates(_analysis: Analysis, test: SplitResult) -> Sheet:
    """Save rates with intervals at every blackout length."""
    return rates_of(test, "save-rates")


def rates_of(test: SplitResult, name: str) -> Sheet:
    """Save rates of one split."""
    lengths, policies = test.principal.blackouts, ordered(test.saves.saved)
    columns = (Column("policy", "Policy"), *by_length("save", lengths))
    rows = tuple((title(p), *(percent(test.principal.rate(p, n)) for n in lengths)) for p in policies)
    extra = " 500 ms lies beyond the lengths seen in training." if max(lengths) > LONGEST_TRAINED else ""
    caption = f"Percent of shots saved by how long the puck is hidden, with 95 % intervals.{extra}"
    return Sheet(name, f"Save rates, {split_title(test.split)}", caption, columns, rows, _teacher(policies))


@tables("results", needs="main")
def contrasts(analysis: Analysis, test: SplitResult) -> Sheet:
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
            counts, inner = test.discordances[c.a, c.b], c.equivalence
            shown = Mark(f"yes, p {p_value(inner.p)}", "good") if inner.equivalent else Mark(f"no, p {inner.p:.3f}")
            tests = (p_value(c.p), p_value(c.p_holm), f"[{Number(100 * inner.low)}, {Number(100 * inner.high)}]", shown)
            only = (sum(count.only_a for count in counts), sum(count.only_b for count in counts))
            rows.append((pair(c.a, c.b), set_, percent(c, True), difference(c.a, c.b), *tests, *only, _mcnemar(counts)))
    caption = (
        f"Paired differences in save rate at {milliseconds(analysis.endpoint)} ms; positive values favour the first. "
        f"Pointwise 95 % intervals from a {test.principal.how}; p alone and after Holm's adjustment within its planned "
        "set. Equivalent: "
        f"the 90 % interval lies inside ±{100 * analysis.margin:g} points (two one-sided tests). The last columns "
        "pair shot by shot over all seeds; McNemar's exact p is for each trained network by itself."
    )
    return Sheet("contrasts", "Planned differences", caption, columns, tuple(rows))


def by_length(name: str, lengths: tuple[int, ...] | list[int], group: str = "") -> tuple[Column, ...]:
    """One column per blackout length."""
    return tuple(Column(f"{name}_{n}", f"{milliseconds(n)} ms", group) for n in lengths)


def _teacher(policies: list[str]) -> tuple[int, ...]:
    return tuple(i for i, policy in enumerate(policies) if policy == TEACHER)


def _mcnemar(counts: tuple[Discordance, ...]) -> str:
    return ", ".join("<.001" if count.p < 0.001 else f"{count.p:.2f}" for count in counts)
