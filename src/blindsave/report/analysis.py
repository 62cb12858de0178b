"""Every statistic the report shows, computed once from a results folder."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from blindsave.evidence import hypotheses, strata
from blindsave.evidence.deviations import Deviation, deviations
from blindsave.evidence.intervals import MARGIN, Contrast, Interval
from blindsave.evidence.mrmc import principal_by, strata_by
from blindsave.evidence.paired import CAUSAL_SEED, MEMORYLESS_SEED, Discordance, mcnemar, paired
from blindsave.evidence.plan import METHODS, Pairs, Plan
from blindsave.evidence.power import Power, power
from blindsave.evidence.principal import Principal, principal
from blindsave.evidence.resample import REPLICATES
from blindsave.evidence.saves import Saves, saves
from blindsave.report.published import document
from blindsave.report.results import Results
from blindsave.report.sheet import Estimate

ENDPOINT = 20
LONGEST_TRAINED = 20
TEST_SPLITS = ("principal_test", "sealed_test")
MEMORY_TESTS = (
    ("teacher", "teacher_reset", CAUSAL_SEED),
    ("teacher_sampled", "ppo", MEMORYLESS_SEED),
)
PRIMARY: Pairs = (
    ("structured_k1", "structured_k0"),
    ("structured_k2", "structured_k0"),
    ("structured_k4", "structured_k0"),
    ("gru_n64", "structured_k0"),
)


@dataclass(frozen=True)
class SplitResult:
    """One clean test split: rates, planned differences, exact counts, subgroups and power."""

    split: str
    saves: Saves
    principal: Principal
    contrasts: Mapping[str, tuple[Contrast, ...]]
    """The planned sets "primary" and "secondary"; empty where none of their policies are present."""
    discordances: Mapping[tuple[str, str], tuple[Discordance, ...]]
    subgroups: strata.Stratified
    power: tuple[Power, ...]


@dataclass(frozen=True)
class Analysis:
    """All of it; absent parts are None or empty."""

    results: Results
    splits: Mapping[str, SplitResult]
    noise: strata.Stratified | None
    noise_saves: Saves | None
    memory: Mapping[str, tuple[Contrast, ...]]
    """By the name of the policy the teacher is compared with."""
    memory_saves: Mapping[str, Saves]
    """The shots of each memory test, by the same name."""
    verdicts: tuple[hypotheses.Verdict, ...]
    deviations: tuple[Deviation, ...]
    endpoint: int
    margin: float
    replicates: int

    @property
    def main(self) -> SplitResult | None:
        """The test that tables and figures show: the principal one, or what there is."""
        for split in (*TEST_SPLITS, "validation"):
            if split in self.splits:
                return self.splits[split]
        return None


def analyse(results: Results, replicates: int | None = None) -> Analysis:
    """Compute everything that the tables allow."""
    plan = results.plan
    count = replicates or (plan.replicates if plan else REPLICATES)
    endpoint = plan.blackout if plan else ENDPOINT
    margin = plan.margin if plan else MARGIN
    splits = [split for split in (*TEST_SPLITS, "validation") if split in results.tables]
    tests = {split: _test(results, split, plan, endpoint, margin, count) for split in splits}
    noise_saves = saves(results.tables["noise_test"]) if "noise_test" in results.tables else None
    method = plan.method if plan else METHODS[0]
    noise = None if noise_saves is None else strata_by(method, strata.noise(noise_saves, count), noise_saves)
    memory_saves = _memory_saves(results)
    return Analysis(
        results=results,
        splits=tests,
        noise=noise,
        noise_saves=noise_saves,
        memory=_memory(memory_saves, count),
        memory_saves=memory_saves,
        verdicts=tuple(_verdicts(plan, tests, noise, noise_saves)) if plan else (),
        deviations=tuple(_deviations(results, plan, count)) if plan else (),
        endpoint=endpoint,
        margin=margin,
        replicates=count,
    )


def percent(interval: Interval | Contrast, signed: bool = False, decimals: int = 1) -> Estimate:
    """Fractions as percent, with the interval."""
    return Estimate(100 * interval.estimate, 100 * interval.low, 100 * interval.high, decimals, signed)


def _test(results: Results, split: str, plan: Plan | None, endpoint: int, margin: float, count: int) -> SplitResult:
    held = saves(results.tables[split])
    method = plan.method if plan else METHODS[0]
    rates = principal_by(method, principal(held, replicates=count), held)
    planned = plan.contrasts if plan else {"primary": PRIMARY, "secondary": _secondary()}
    here = endpoint in held.blackouts
    pairs = {name: _present(planned.get(name, ()), held) if here else [] for name in ("primary", "secondary")}
    every = dict.fromkeys([*pairs["primary"], *pairs["secondary"]])
    return SplitResult(
        split=split,
        saves=held,
        principal=rates,
        contrasts={name: tuple(rates.contrasts(set_, endpoint, margin)) for name, set_ in pairs.items()},
        discordances={(a, b): tuple(mcnemar(held, a, b, endpoint)) for a, b in every},
        subgroups=strata_by(method, strata.subgroups(held, count), held),
        power=tuple(power(held, a, b, endpoint, margin, method=method) for a, b in pairs["primary"]),
    )


def _secondary() -> Pairs:
    pairs = [tuple(key.split(" - ")) for key in document()["differences"]]
    return tuple((a, b) for a, b in pairs if (a, b) not in PRIMARY)


def _present(pairs: Pairs, held: Saves) -> list[tuple[str, str]]:
    return [(a, b) for a, b in pairs if {a, b} <= held.saved.keys()]


def _memory_saves(results: Results) -> dict[str, Saves]:
    """For each memory test the first table that holds both of its policies, one trained network each."""
    held = [saves(table) for _, table in sorted(results.memory.items())]
    found = {}
    for a, b, _ in MEMORY_TESTS:
        fitting = [h for h in held if _teacher_in(h, a) and len(h.seeds.get(b, ())) == 1]
        if fitting:
            found[b] = fitting[0]
    return found


def _memory(held: Mapping[str, Saves], count: int) -> dict[str, tuple[Contrast, ...]]:
    return {
        b: tuple(paired(held[b], _teacher_in(held[b], a) or a, b, seed, replicates=count))
        for a, b, seed in MEMORY_TESTS
        if b in held
    }


def _teacher_in(held: Saves, name: str) -> str | None:
    """The teacher by the name wanted, or the plain one where no other was recorded."""
    return next((known for known in (name, "teacher") if known in held.saved), None)


def _verdicts(
    plan: Plan, tests: Mapping[str, SplitResult], noise: strata.Stratified | None, noise_saves: Saves | None
) -> list[hypotheses.Verdict]:
    """Decide the hypotheses whose policies and conditions were recorded."""
    found: list[hypotheses.Verdict] = []
    for split in plan.splits:
        if split in tests:
            asked = _askable(plan, tests[split].saves, split)
            found += hypotheses.verdicts(asked, {split: tests[split].principal})
    if noise is not None and noise_saves is not None:
        found += hypotheses.verdicts(_askable(plan, noise_saves, "noise_test"), {"noise_test": noise})
    return found


def _askable(plan: Plan, held: Saves, split: str) -> Plan:
    kept: Sequence[hypotheses.Hypothesis] = [
        h
        for h in plan.hypotheses
        if {h.a, h.b} <= held.saved.keys()
        and h.disturbance in held.disturbances
        and plan.blackout in held.blackouts
        and (h.split is None or h.split == split)
    ]
    return replace(plan, hypotheses=tuple(kept))


def _deviations(results: Results, plan: Plan, count: int) -> list[Deviation]:
    return deviations(plan, results.tables, results.ledger, count)
