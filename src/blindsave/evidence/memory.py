"""Does the task need memory, and does the teacher use it? The two memory tests, from episode tables alone.

State reset: the teacher against itself with its state erased when the puck disappears. Memoryless control: the teacher
against the best of several PPO policies that keep nothing between steps. Both are paired over the same shots, with the
single-policy bootstrap of `paired`. docs/memory-tests.md explains the rules and every figure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from blindsave.errors import BadInput
from blindsave.evidence import summaries
from blindsave.evidence.intervals import Interval, interval
from blindsave.evidence.paired import CAUSAL_SEED, MEMORYLESS_SEED, mcnemar, paired
from blindsave.evidence.resample import REPLICATES, counts
from blindsave.evidence.saves import saves

LENGTHS = (0, 5, 10, 15, 20)
LONGEST = 20
MIN_RESET_DROP = 0.10
MIN_PPO_RATE = 0.75
MAX_VISIBLE_GAP = 0.10
MIN_HIDDEN_GAP = 0.15
MIN_GAP_GROWTH = 0.10
RECORD = ("outcome", "save", "steps", "first_contact", "reward")


@dataclass(frozen=True)
class PairedRow:
    """Two policies on the same shots at one blackout length; rates and differences are fractions of one."""

    blackout: int
    shots: int
    saves_a: int
    saves_b: int
    rate_a: Interval
    rate_b: Interval
    difference: Interval
    """`a` minus `b`, with the paired interval."""
    only_a: int
    only_b: int
    p: float
    """Exact McNemar p of the two networks compared."""


@dataclass(frozen=True)
class MemoryTest:
    """One memory test: a row per blackout length, and the checks agreed on beforehand."""

    a: str
    b: str
    split: str
    bootstrap_seed: int
    rows: tuple[PairedRow, ...]
    checks: Mapping[str, bool]
    facts: Mapping[str, Any]

    @property
    def passed(self) -> bool:
        """Whether every check holds."""
        return all(self.checks.values())

    def at(self, blackout: int) -> PairedRow:
        """The row of one blackout length."""
        for row in self.rows:
            if row.blackout == blackout:
                return row
        raise BadInput(f"the memory test of {self.a} and {self.b} has no blackout of {blackout} steps")

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {**asdict(self), "rows": [asdict(row) for row in self.rows], "passed": self.passed}


@dataclass(frozen=True)
class Candidate:
    """One training seed of the memoryless control on the visible validation shots."""

    training_seed: int
    shots: int
    saves: int
    score: float
    """Mean sum of rewards."""
    faults: int

    @property
    def rate(self) -> float:
        """Fraction saved."""
        return self.saves / self.shots


@dataclass(frozen=True)
class Selection:
    """The candidates, the chosen one, and why it may (or may not) face the test."""

    candidates: tuple[Candidate, ...]
    chosen: Candidate
    reference_rate: float | None
    checks: Mapping[str, bool]

    @property
    def qualified(self) -> bool:
        """Whether every check holds; only then is the test split played."""
        return all(self.checks.values())

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "candidates": [asdict(one) | {"rate": one.rate} for one in self.candidates],
            "selected": self.chosen.training_seed,
            "reference_rate": self.reference_rate,
            "checks": dict(self.checks),
            "qualified": self.qualified,
        }


def select(validation: pa.Table, policy: str = "ppo", reference: str | None = None) -> Selection:
    """Choose the seed with the best save rate without blackout, then the best mean score, then the lowest number.

    It qualifies with a save rate of at least 75 % and no faults and, where a `reference` policy (the teacher) is in
    the table too, if the reference is at most 10 points better.
    """
    visible = _where(validation, "blackout", [0])
    candidates = tuple(_candidate(visible, policy, seed) for seed in _seeds(visible, policy))
    chosen = min(candidates, key=lambda one: (-one.saves, -one.score, one.training_seed))
    checks = {"visible_rate": chosen.rate >= MIN_PPO_RATE, "no_faults": chosen.faults == 0}
    rate = None
    if reference is not None:
        (seed,) = _seeds(visible, reference)
        other = _candidate(visible, reference, seed)
        rate = other.rate
        behind = other.saves * chosen.shots - chosen.saves * other.shots
        checks["visible_gap"] = behind <= MAX_VISIBLE_GAP * other.shots * chosen.shots
    return Selection(candidates, chosen, rate, checks)


def state_reset(table: pa.Table, policy: str = "teacher", reset: str | None = None) -> MemoryTest:
    """The causal test: how much is lost when the state is erased at the start of the blackout.

    Without a blackout nothing may differ: outcome, steps, first contact and rewards are compared bit for bit.
    """
    reset = reset or f"{policy}_reset"
    rows = compare(table, policy, reset, CAUSAL_SEED)
    differing = changed_records(table, policy, reset)
    last = rows[-1].difference
    checks = {
        "drop": last.estimate >= MIN_RESET_DROP,
        "drop_interval_above_zero": last.low > 0,
        "identical_without_blackout": not differing,
    }
    facts = {"drop_at_longest": last.estimate, "records_changed_without_blackout": len(differing)}
    return MemoryTest(policy, reset, saves(table).split, CAUSAL_SEED, rows, checks, facts)


def memoryless(table: pa.Table, teacher: str = "teacher", control: str = "ppo") -> MemoryTest:
    """The memoryless control: how the teacher's advantage grows with the blackout."""
    rows = compare(table, teacher, control, MEMORYLESS_SEED)
    first, last = rows[0], rows[-1]
    growth = last.difference.estimate - first.difference.estimate
    checks = {
        "control_visible_rate": first.saves_b >= MIN_PPO_RATE * first.shots,
        "visible_gap": first.saves_a - first.saves_b <= MAX_VISIBLE_GAP * first.shots,
        "hidden_gap": last.saves_a - last.saves_b >= MIN_HIDDEN_GAP * last.shots,
        "gap_growth": growth >= MIN_GAP_GROWTH,
        "hidden_interval_above_zero": last.difference.low > 0,
    }
    split = saves(table).split
    return MemoryTest(teacher, control, split, MEMORYLESS_SEED, rows, checks, {"gap_growth": growth})


def compare(table: pa.Table, a: str, b: str, seed: int, replicates: int = REPLICATES) -> tuple[PairedRow, ...]:
    """Every blackout length of two single policies, shortest first; rates share the draws of the difference."""
    dense = saves(only(table, (a, b)))
    rng = np.random.default_rng(seed)
    rows = []
    for found in paired(dense, a, b, seed, replicates=replicates):
        one, other = (dense.at(name, found.blackout)[0] for name in (a, b))
        shots = len(one)
        weights = counts(rng.integers(0, shots, size=(replicates, shots)), shots)
        rates = [interval(float(each.sum() / shots), weights @ each.astype(float) / shots) for each in (one, other)]
        (exact,) = mcnemar(dense, a, b, found.blackout)
        difference = Interval(found.estimate, found.low, found.high)
        scored = (found.blackout, shots, int(one.sum()), int(other.sum()))
        rows.append(PairedRow(*scored, rates[0], rates[1], difference, exact.only_a, exact.only_b, exact.p))
    return tuple(rows)


def changed_records(table: pa.Table, a: str, b: str, blackout: int = 0) -> list[str]:
    """Shots whose episode record differs in any bit between two policies at one blackout length."""
    cell = _where(table, "blackout", [blackout])
    one, other = (only(cell, [name]) for name in (a, b))
    if not one.num_rows or one["shot_id"] != other["shot_id"]:
        raise BadInput(f"{a} and {b} were not played on the same shots with a blackout of {blackout} steps")
    same = np.ones(one.num_rows, bool)
    for name in RECORD:
        x, y = (np.asarray(part[name].to_pylist()) for part in (one, other))
        same &= (x.view(np.int64) == y.view(np.int64)) if x.dtype == np.float64 else x == y
    return [str(shot) for shot in np.asarray(one["shot_id"].to_pylist())[~same]]


def only(table: pa.Table, policies: Sequence[str], training_seeds: Sequence[int] | None = None) -> pa.Table:
    """The rows of some policies (and of some training seeds), in their order."""
    rows = _where(table, "policy", policies)
    return rows if training_seeds is None else _where(rows, "training_seed", training_seeds)


def figure_data(reset: MemoryTest, control: MemoryTest | None, blackout: int = LONGEST) -> list[dict[str, Any]]:
    """The numbers of the figure "why the task needs memory", panel c: one entry per test and blackout length.

    `blackout` and 0 are drawn; each entry has both policies' rates and the paired difference, each with its interval.
    """
    drawn = []
    for name, test in (("memoryless", control), ("state_reset", reset)):
        for length in (0, blackout) if test else ():
            assert test is not None
            row = test.at(length)
            entry = {"comparison": name, "blackout": length, "shots": row.shots, "difference": asdict(row.difference)}
            bars = [(test.a, row.saves_a, row.rate_a), (test.b, row.saves_b, row.rate_b)]
            entry["bars"] = [{"policy": p, "saves": n, **asdict(rate)} for p, n, rate in bars]
            drawn.append(entry)
    return drawn


def _candidate(table: pa.Table, policy: str, seed: int) -> Candidate:
    rows = only(table, (policy,), (seed,))
    saved, reward = (np.asarray(rows[name].to_pylist(), float) for name in ("save", "reward"))
    return Candidate(seed, rows.num_rows, int(saved.sum()), float(reward.mean()), len(summaries.faults(rows)))


def _seeds(table: pa.Table, policy: str) -> list[int]:
    seeds = sorted(set(only(table, (policy,))["training_seed"].to_pylist()))
    if not seeds:
        raise BadInput(f"the validation table holds no visible episode of {policy}")
    return seeds


def _where(table: pa.Table, column: str, values: Sequence[Any]) -> pa.Table:
    return table.filter(pa.array(np.isin(np.asarray(table[column].to_pylist()), list(values))))
