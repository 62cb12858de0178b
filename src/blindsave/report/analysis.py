"""Every statistic that the report shows or `blindsave stats` prints, computed once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import pyarrow as pa

from blindsave.draw.policy_looks import Look, looks
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
from blindsave.policies.students.registry import PAPER_FAMILIES
from blindsave.report.published import document
from blindsave.report.results import Results
from blindsave.report.sheet import Estimate
from blindsave.report.teachers import FEWEST, Placed, place_all

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
    """One clean test split: rates, planned differences, exact counts and subgroups."""

    split: str
    table: pa.Table
    saves: Saves
    principal: Principal
    contrasts: Mapping[str, tuple[Contrast, ...]]
    """The planned sets "primary" and "secondary"; empty where none of their policies are present."""
    discordances: Mapping[tuple[str, str], tuple[Discordance, ...]]
    subgroups: strata.Stratified
    method: str
    """How intervals were made."""

    @property
    def asks_the_papers_questions(self) -> bool:
        """Whether only the paper's families take part and are compared as the paper compares them."""
        pairs = {(c.a, c.b) for c in self.contrasts.get("primary", ())}
        return set(self.saves.families()) <= set(PAPER_FAMILIES) and pairs <= set(PRIMARY)

    def differences(self) -> list[Contrast]:
        """Every planned difference once, the primary ones first."""
        found: dict[frozenset[str], Contrast] = {}
        for members in self.contrasts.values():
            for one in members:
                found.setdefault(frozenset((one.a, one.b)), one)
        return list(found.values())

    def power(self, margin: float) -> tuple[Power, ...]:
        """What the design can resolve of each primary difference."""
        return tuple(
            power(self.saves, c.a, c.b, c.blackout, margin, method=self.method) for c in self.contrasts["primary"]
        )


@dataclass(frozen=True)
class NoiseResult:
    """The noise extension."""

    saves: Saves
    rates: strata.Stratified

    def covers(self, policies: set[str], blackout: int, disturbance: str) -> bool:
        """Whether these policies played under this condition."""
        held = self.saves
        return policies <= held.saved.keys() and blackout in held.blackouts and disturbance in held.disturbances


@dataclass(frozen=True)
class Analysis:
    """All of it; absent parts are None or empty."""

    results: Results
    splits: Mapping[str, SplitResult]
    noise: NoiseResult | None
    memory: Mapping[str, tuple[Contrast, ...]]
    """By the name of the policy the teacher is compared with."""
    memory_saves: Mapping[str, Saves]
    """The shots of each memory test, by the same name."""
    verdicts: tuple[hypotheses.Verdict, ...]
    deviations: tuple[Deviation, ...]
    endpoint: int
    margin: float
    replicates: int

    @cached_property
    def looks(self) -> Mapping[str, Look]:
        """How the policies of all tables are drawn."""
        return looks(name for table in self.results.tables.values() for name in table["policy"].unique().to_pylist())

    @property
    def main(self) -> SplitResult | None:
        """The test that tables and figures show: the principal one, or what there is."""
        return next((self.splits[name] for name in (*TEST_SPLITS, "validation") if name in self.splits), None)

    @property
    def main_at_endpoint(self) -> SplitResult | None:
        """The main test, where it has the endpoint's blackout."""
        return self._with_endpoint(self.main)

    @property
    def principal_test(self) -> SplitResult | None:
        """The paper's own test."""
        return self.splits.get("principal_test")

    @property
    def principal_at_endpoint(self) -> SplitResult | None:
        """The paper's own test, where it has the endpoint's blackout."""
        return self._with_endpoint(self.principal_test)

    @property
    def both_tests(self) -> tuple[SplitResult, SplitResult] | None:
        """The principal and the sealed test, where both were opened."""
        one, other = (self.splits.get(name) for name in TEST_SPLITS)
        return None if one is None or other is None else (one, other)

    @cached_property
    def teachers(self) -> tuple[Placed, ...] | None:
        """Teachers with fingerprints and students, other studies' too; None where there is nothing to compare."""
        method = self.results.plan.method if self.results.plan else METHODS[0]
        placed = place_all(self.results.taught, self.endpoint, method, self.replicates)
        return placed if len(placed) >= FEWEST else None

    def pairs(self, name: str) -> Pairs:
        """A planned set of differences; without a plan the paper's."""
        usual = {"subgroups": strata.SUBGROUP_PAIRS, "noise": strata.NOISE_PAIRS}[name]
        return self.results.plan.contrasts.get(name, ()) if self.results.plan else usual

    def _with_endpoint(self, test: SplitResult | None) -> SplitResult | None:
        return test if test is not None and self.endpoint in test.saves.blackouts else None


def analyse(results: Results, replicates: int | None = None) -> Analysis:
    """Compute everything that the tables allow."""
    plan = results.plan
    count = replicates or (plan.replicates if plan else REPLICATES)
    endpoint = plan.blackout if plan else ENDPOINT
    margin = plan.margin if plan else MARGIN
    contrasts = plan.contrasts if plan else {"primary": PRIMARY, "secondary": _secondary()}
    method = plan.method if plan else METHODS[0]
    tests = {
        split: analyse_split(results.tables[split], contrasts, endpoint, margin, count, method)
        for split in (*TEST_SPLITS, "validation")
        if split in results.tables
    }
    noise = None
    if "noise_test" in results.tables:
        noisy = saves(results.tables["noise_test"])
        noise = NoiseResult(noisy, strata_by(method, strata.noise(noisy, count), noisy))
    memory_saves = _memory_saves(results)
    return Analysis(
        results=results,
        splits=tests,
        noise=noise,
        memory=_memory(memory_saves, count),
        memory_saves=memory_saves,
        verdicts=tuple(_verdicts(plan, tests, noise)) if plan else (),
        deviations=tuple(deviations(plan, results.tables, results.ledger, count)) if plan else (),
        endpoint=endpoint,
        margin=margin,
        replicates=count,
    )


def analyse_split(
    table: pa.Table,
    planned: Mapping[str, Pairs],
    endpoint: int,
    margin: float,
    replicates: int,
    method: str = METHODS[0],
    split: str | None = None,
) -> SplitResult:
    """Rates, planned differences at the endpoint, exact pairs and subgroups of one split of a table."""
    held = saves(table, split)
    rates = principal_by(method, principal(held, replicates=replicates), held)
    here = endpoint in held.blackouts
    pairs = {
        name: [(a, b) for a, b in planned.get(name, ()) if here and {a, b} <= held.saved.keys()]
        for name in ("primary", "secondary")
    }
    return SplitResult(
        split=held.split,
        table=table,
        saves=held,
        principal=rates,
        contrasts={name: tuple(rates.contrasts(set_, endpoint, margin)) for name, set_ in pairs.items()},
        discordances={(a, b): tuple(mcnemar(held, a, b, endpoint)) for set_ in pairs.values() for a, b in set_},
        subgroups=strata_by(method, strata.subgroups(held, replicates), held),
        method=method,
    )


def percent(interval: Interval | Contrast, signed: bool = False, decimals: int = 1) -> Estimate:
    """Fractions as percent, with the interval."""
    return Estimate(100 * interval.estimate, 100 * interval.low, 100 * interval.high, decimals, signed)


def _secondary() -> Pairs:
    pairs = [tuple(key.split(" - ")) for key in document()["differences"]]
    return tuple((a, b) for a, b in pairs if (a, b) not in PRIMARY)


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


def _verdicts(plan: Plan, tests: Mapping[str, SplitResult], noise: NoiseResult | None) -> list[hypotheses.Verdict]:
    """Decide the hypotheses whose policies and conditions were recorded."""
    asked: dict[str, tuple[Saves, Principal | strata.Stratified]] = {
        split: (tests[split].saves, tests[split].principal) for split in plan.splits if split in tests
    }
    if noise is not None:
        asked["noise_test"] = noise.saves, noise.rates
    found: list[hypotheses.Verdict] = []
    for split, (held, rates) in asked.items():
        found += hypotheses.verdicts(_askable(plan, held, split), {split: rates})
    return found


def _askable(plan: Plan, held: Saves, split: str) -> Plan:
    kept: Sequence[hypotheses.Hypothesis] = [
        h
        for h in plan.hypotheses
        if {h.a, h.b} <= held.saved.keys()
        and h.disturbance in held.disturbances
        and plan.asked_at(h) in held.blackouts
        and (h.split is None or h.split == split)
    ]
    return replace(plan, hypotheses=tuple(kept))
