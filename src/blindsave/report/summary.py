"""The report in a few plain sentences."""

from blindsave.evidence.intervals import Contrast
from blindsave.report import own_words
from blindsave.report.analysis import Analysis, SplitResult, percent
from blindsave.report.claims import CLEAR, CONTRADICTED, NOT_CONFIRMED, UNTESTED, Finding, compatible
from blindsave.report.names import TEACHER, milliseconds, ordered, title
from blindsave.report.own_words import listed
from blindsave.report.verdicts import BEFORE, only_before_correction

PLAIN = {
    "structured_k0": "a goalkeeper with a linear memory (k = 0)",
    "gru_n64": "one with a gated memory (GRU-64)",
    "finite_stack_10": "one that sees its last ten observations",
    "feed_forward": "one without memory",
    TEACHER: "their teacher",
}


def sentences(analysis: Analysis, found: list[Finding]) -> list[str]:
    """What was found, most important first; empty where there is no test at all."""
    test = analysis.main
    said = []
    if test is not None:
        own = own_words.asks_its_own(test)
        rates, contrasts = (own_words.rates, own_words.differences) if own else (_rates, _contrasts)
        said = [_lengths(test)] if analysis.endpoint not in test.saves.blackouts else [rates(analysis, test)]
        said += contrasts(analysis, test)
    noise = _noise if test is None or not own_words.asks_its_own(test) else own_words.noise
    said += _memory(analysis) + noise(analysis) + _sealed(analysis)
    return said + _verdicts(found)


def _rates(analysis: Analysis, test: SplitResult) -> str:
    named = [policy for policy in PLAIN if policy in test.saves.saved] or ordered(test.saves.saved)[:5]
    parts = [
        f"{PLAIN.get(policy, policy)} saved {percent(test.principal.rate(policy, analysis.endpoint)).point} %"
        for policy in named
    ]
    return f"{own_words.setting(analysis, test)}, {listed(parts)}."


def _lengths(test: SplitResult) -> str:
    lengths = ", ".join(f"{milliseconds(n)} ms" for n in test.saves.blackouts)
    return f"Save rates were recorded with the puck hidden for {lengths}."


def _contrasts(analysis: Analysis, test: SplitResult) -> list[str]:
    primary = test.contrasts.get("primary", ())
    if not primary:
        return []
    if len(primary) == 1:
        return [_contrast(primary[0], f"±{100 * analysis.margin:g} points")]
    gain = [c for c in primary if c.low > 0]
    loss = [c for c in primary if c.high < 0]
    equal = [c for c in primary if c.equivalence.equivalent]
    count, margin = len(primary), f"±{100 * analysis.margin:g} points"
    if gain:
        names = listed([title(c.a) for c in gain])
        first = f"More complex memories helped: {names} saved clearly more than k = 0."
    else:
        worse = f" ({len(loss)} saved clearly less)" if loss else ""
        first = f"None of the {count} more complex memories saved clearly more than the linear one{worse}."
    second = f"{len(equal)} of {count} were shown to be equivalent to it within {margin}."
    return [f"{first} {second}"]


def _contrast(one: Contrast, margin: str) -> str:
    """The sentences of a study that compares one other memory with the linear one."""
    more, less = one.low > 0, one.high < 0
    how = "clearly more than" if more else "clearly less than" if less else "neither clearly more nor clearly less than"
    equal = "" if one.equivalence.equivalent else "not "
    first = f"The one more complex memory, {title(one.a)}, saved {how} the linear one."
    return f"{first} It was {equal}shown to be equivalent to it within {margin}."


def _memory(analysis: Analysis) -> list[str]:
    found = next((c for c in analysis.memory.get("teacher_reset", ()) if c.blackout == analysis.endpoint), None)
    if found is None:
        return []
    drop, ms = percent(found), milliseconds(analysis.endpoint)
    start = "The task needs memory: erasing" if found.low > 0 else "No need of memory was shown: erasing"
    return [f"{start} the teacher's state when tracking stops costs it {drop.point} points {drop.span} at {ms} ms."]


def _noise(analysis: Analysis) -> list[str]:
    noise, pair = analysis.noise, ("structured_k0", "gru_n64")
    if noise is None or not noise.covers(set(pair), analysis.endpoint, "noise_5mm"):
        return []
    c = noise.rates.difference("all", *pair, analysis.endpoint, "noise_5mm")
    number = percent(c, True)
    verdict = (
        "is more robust than" if c.low > 0 else "is less robust than" if c.high < 0 else "is not clearly different from"
    )
    before = only_before_correction(analysis.verdicts, "noise_test", *pair, analysis.endpoint, "noise_5mm")
    alone = f", {BEFORE}" if before else ""
    return [
        f"Under 5 mm of tracking noise the linear memory {verdict} the GRU: {number.point} points {number.span} at "
        f"{milliseconds(analysis.endpoint)} ms{alone}."
    ]


def _sealed(analysis: Analysis) -> list[str]:
    if analysis.both_tests is None:
        return []
    one, other = analysis.both_tests
    cells = [
        compatible(percent(one.principal.rate(p, n)), percent(other.principal.rate(p, n)))
        for p in one.saves.saved.keys() & other.saves.saved.keys()
        for n in set(one.saves.blackouts) & set(other.saves.blackouts)
    ]
    return [
        f"The sealed test, whose shots did not exist before everything was frozen, agrees with the principal test in "
        f"{sum(cells)} of {len(cells)} rates."
    ]


def _verdicts(found: list[Finding]) -> list[str]:
    tested = [f for f in found if f.verdict != UNTESTED]
    if not tested:
        return []
    open_ = [f for f in tested if f.verdict in (NOT_CONFIRMED, CLEAR, CONTRADICTED, BEFORE)]
    confirmed = len(tested) - len(open_)
    said = f"Of the paper's {len(found)} claims listed below, {len(tested)} were tested and {confirmed} confirmed."
    if not open_:
        return [said]
    return [f"{said} Not confirmed: {listed([f.claim.statement[:1].lower() + f.claim.statement[1:] for f in open_])}."]
