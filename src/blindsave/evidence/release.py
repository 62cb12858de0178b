"""Release: verify everything frozen, open the test exactly once, and write down what was found.

Order of events: verify; write the opening to the ledger; play every grid (one artifact per policy); write the tables;
write the results to the ledger. A run killed anywhere is completed by the same command under the same opening; once
the results are in the ledger, no second opening is possible.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from blindsave import store
from blindsave.errors import BadFile, BadInput
from blindsave.evidence import tables
from blindsave.evidence.freeze import SEALED_DISTRIBUTION, SEALED_SPLIT, Frozen, open_frozen
from blindsave.evidence.grid import grid
from blindsave.evidence.ledger import Entry, Ledger
from blindsave.evidence.plan import Plan
from blindsave.evidence.schedule import Schedule
from blindsave.evidence.summaries import condition_name
from blindsave.policies.catalog import NamedPolicy, from_file
from blindsave.task.shots import Shot, generate, split_named

Play = Callable[[Path, list[NamedPolicy], Schedule], pa.Table]
Load = Callable[[Path, str, int], NamedPolicy]


@dataclass(frozen=True)
class Released:
    """A completed opening: its two ledger entries and the tables it wrote."""

    opening: Entry
    results: Entry
    tables: dict[str, Path]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "opening": self.opening.to_dict(),
            "results": self.results.to_dict(),
            "tables": {split: str(path) for split, path in self.tables.items()},
            "save_rates": self.results.content["save_rates"],
        }


def release(
    manifest: str | Path,
    root: str | Path,
    ledger: Ledger,
    out: str | Path,
    work: str | Path,
    *,
    load: Load = from_file,
    play: Play = grid,
    code: Path | None = None,
) -> Released:
    """Open the planned test splits once; see the module for the order of events.

    `work` holds the artifacts of finished policies and survives a crash; `out` receives one table per split.
    """
    with ledger.lock():
        refuse_second(ledger)
        frozen = open_frozen(manifest, root, code)
        opening = _opening(frozen, ledger, Path(out))
        policies = [load(frozen.policy_file(name, seed), name, seed) for name, seed in frozen.plan.runs]
        paths, rates = {}, {}
        for split, schedule in opened_schedules(frozen).items():
            table = play(Path(work), policies, schedule)
            tables.check(table, tables.Expected(frozen.plan.policies(split), (schedule.layout,)))
            paths[split] = tables.write(table, Path(out) / f"{split}.parquet")
            rates[split] = save_rates(table)
        shots = {
            "seed": frozen.sealed_seed,
            "shots": [vars(shot) for shot in planned_sealed_shots(frozen.plan, frozen.sealed_seed)],
        }
        store.write_json(Path(out) / f"{SEALED_SPLIT}_shots.json", shots)
        open_frozen(manifest, root, code)  # a file changed while the test was played spoils the results
        content = {
            "freeze_sha256": frozen.sha256,
            "opening_sha256": opening.sha256,
            "tables": {split: store.sha256_file(path) for split, path in paths.items()},
            "save_rates": rates,
            "provenance": store.provenance(),
        }
        return Released(opening, ledger.append("results", content), paths)


def released(ledger: Ledger, out: str | Path) -> Released | None:
    """The completed opening of a ledger with its verified tables; None where the test is still closed."""
    opening, results = ledger.last("opening"), ledger.last("results")
    if opening is None or results is None:
        return None
    paths = {split: Path(out) / f"{split}.parquet" for split in results.content["tables"]}
    for split, sha256 in results.content["tables"].items():
        if store.sha256_file(paths[split]) != sha256:
            raise BadFile(f"{paths[split]} was changed after the release")
    return Released(opening, results, paths)


def refuse_second(ledger: Ledger) -> None:
    """Refuse where the test has been opened and its results written."""
    opening, results = ledger.last("opening"), ledger.last("results")
    if opening is not None and results is not None:
        raise BadInput(f"the test was opened on {opening.time} and cannot be opened again ({ledger.path})")


def sealed_shots(seed: int, times: int = 1) -> tuple[Shot, ...]:
    """The sealed test: drawn as the principal test is, `times` as large, from the seed that the freeze decided."""
    return generate(SEALED_SPLIT, SEALED_DISTRIBUTION, seed, split_named("principal_test").counts.times(times))


def planned_sealed_shots(plan: Plan, seed: int) -> tuple[Shot, ...]:
    """As many sealed shots as a plan asks for."""
    grid_of = plan.grids.get(SEALED_SPLIT)
    return sealed_shots(seed, 1 if grid_of is None else grid_of.times)


def sealed_noise_shots(freeze_sha256: str) -> tuple[Shot, ...]:
    """Noise shots of a study that leaves the published test closed: its own, so that the published stay unseen."""
    text = f"blindsave.sealed_noise.v1:{freeze_sha256}"
    seed = int.from_bytes(hashlib.sha256(text.encode("ascii")).digest()[:8], "big")
    split = split_named("noise_test")
    return generate("noise_test", f"{split.distribution}_sealed", seed, split.counts)


def opened_schedules(frozen: Frozen) -> dict[str, Schedule]:
    """The grids a release opens: the endpoint's splits, the sealed one with its own shots."""
    plan = frozen.plan
    return {
        split: plan.grids[split].schedule(
            planned_sealed_shots(plan, frozen.sealed_seed) if split == SEALED_SPLIT else ()
        )
        for split in plan.splits
    }


def save_rates(table: pa.Table) -> dict[str, dict[str, dict[str, int]]]:
    """Saves and shots of every policy under every condition, training seeds pooled."""
    grouped = table.group_by(["policy", "blackout", "disturbance"], use_threads=False)
    found: dict[str, dict[str, dict[str, int]]] = {}
    rows = grouped.aggregate([("save", "sum"), ("save", "count")]).to_pylist()
    for row in sorted(rows, key=lambda row: (row["policy"], row["blackout"], row["disturbance"])):
        cell = {"saves": row["save_sum"], "shots": row["save_count"]}
        found.setdefault(row["policy"], {})[condition_name(row["blackout"], row["disturbance"])] = cell
    return found


def _opening(frozen: Frozen, ledger: Ledger, out: Path) -> Entry:
    """The one opening: written now, or found as an earlier run that did not finish left it."""
    content = {
        "freeze_sha256": frozen.sha256,
        "sealed_seed": frozen.sealed_seed,
        "grids": {split: store.digest(s.describe()) for split, s in opened_schedules(frozen).items()},
        "libraries": {"mujoco": store.provenance()["libraries"].get("mujoco"), "numpy": np.__version__},
    }
    newest, opening = ledger.last("freeze"), ledger.last("opening")
    if newest is None or newest.content["freeze_sha256"] != frozen.sha256:
        raise BadFile(f"{frozen.path} is not the newest freeze in {ledger.path}")
    if opening is None:
        stray = next((out / f"{s}.parquet" for s in content["grids"] if (out / f"{s}.parquet").exists()), None)
        if stray is not None:
            raise BadFile(f"{stray} exists, but {ledger.path} knows of no opening")
        return ledger.append("opening", content)
    for name, value in content.items():
        if opening.content.get(name) != value:
            raise BadInput(f"the opening of {opening.time} can only be completed as it began: {name} has changed")
    return opening
