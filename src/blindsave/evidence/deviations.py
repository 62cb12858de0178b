"""Deviations from the plan, computed from what was done and not from what anybody remembers."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from blindsave.evidence import resample, tables
from blindsave.evidence.ledger import Ledger
from blindsave.evidence.paired import CAUSAL_SEED, MEMORYLESS_SEED
from blindsave.evidence.plan import Plan
from blindsave.evidence.summaries import faults

SEEDS_IN_USE = {
    "principal_seed": resample.PRINCIPAL_SEED,
    "subgroup_seed": resample.SUBGROUP_SEED,
    "noise_seed": resample.NOISE_SEED,
    "causal_seed": CAUSAL_SEED,
    "memoryless_seed": MEMORYLESS_SEED,
}


@dataclass(frozen=True)
class Deviation:
    """One thing that was planned one way and done another."""

    what: str
    planned: Any
    done: Any

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def deviations(
    plan: Plan,
    by_split: Mapping[str, pa.Table],
    ledger: Ledger | None = None,
    replicates: int = resample.REPLICATES,
) -> list[Deviation]:
    """Every difference between the plan and the tables, the bootstrap and the ledger; empty means none."""
    found = _differences("bootstrap replicates", plan.replicates, replicates)
    for name, used in SEEDS_IN_USE.items():
        found += _differences(f"bootstrap {name}", plan.seed(name), used)
    for split, grid in plan.grids.items():
        if split not in by_split:
            found.append(Deviation(f"grid {split}", "evaluated", "no table"))
            continue
        found += _of_table(plan, split, by_split[split])
        held = tables.infer(by_split[split]).layouts[0]
        found += _differences(f"{split}: blackouts", sorted(grid.blackouts), sorted(held.blackouts))
        found += _differences(f"{split}: disturbances", sorted(grid.conditions), sorted(held.disturbances))
    found += [Deviation(f"unplanned table {split}", None, split) for split in by_split if split not in plan.grids]
    return found + (_of_ledger(plan, ledger) if ledger is not None else [])


def _of_table(plan: Plan, split: str, table: pa.Table) -> list[Deviation]:
    held = tables.infer(table).policies
    wanted = plan.policies(split)
    found = []
    for name in sorted(wanted.keys() | held.keys()):
        planned, done = list(wanted.get(name, ())), list(held.get(name, ()))
        found += _differences(f"{split}: training seeds of {name}", sorted(planned), sorted(done))
    broken = len(faults(table))
    return found + _differences(f"{split}: simulator faults (counted as failures)", 0, broken)


def _of_ledger(plan: Plan, ledger: Ledger) -> list[Deviation]:
    entries = ledger.entries()
    opened = [entry for entry in entries if entry.kind == "opening"]
    found = _differences("openings of the test", 1, len(opened))
    freezes = [entry for entry in entries if entry.kind == "freeze"]
    found += _differences("freezes before the opening", 1, len(freezes))
    if freezes:
        found += _differences("plan bound by the freeze", plan.sha256, freezes[-1].content["plan_sha256"])
    return found


def _differences(what: str, planned: Any, done: Any) -> list[Deviation]:
    return [] if planned == done else [Deviation(what, planned, done)]
