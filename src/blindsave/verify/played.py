"""What was played: tables against ledger, plan and shots; the sealed shots against the freeze."""

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from blindsave import store
from blindsave.evidence import tables
from blindsave.evidence.freeze import SEALED_SPLIT, sealed_seed
from blindsave.evidence.release import planned_sealed_shots, save_rates, sealed_noise_shots, sealed_shots
from blindsave.evidence.schedule import Schedule
from blindsave.task.conditions import CLEAN_NAME
from blindsave.verify.findings import Findings
from blindsave.verify.places import Place
from blindsave.verify.seal import Seal

NOISE = "noise_test"
CLEAN_V1 = {"noise_mm": 0, "correlation": 0.0, "bias_mm": [0.0, 0.0], "extra_blackouts": [], "puck_drag": 1.0}
"""What openings said of the only condition there was, before conditions were lists of faults."""
UNRELATED = ("ppo", "teacher", "report", "datasets")


def released_tables(results: Path, content: Mapping[str, Any] | None) -> dict[str, Path]:
    """The table of every split that the ledger's results line names: the file with its hash, wherever others lie.

    Where no file has that hash, it is the one where a release puts it, for `verify` to name.
    """
    named = dict((content or {}).get("tables", {}))
    found = {split: results / "test" / f"{split}.parquet" for split in named}
    for split, sha256 in named.items():
        others = (path for path in _parquet(results) if path != found[split])
        found[split] = next(
            (path for path in (found[split], *others) if path.is_file() and store.sha256_file(path) == sha256),
            found[split],
        )
    return found


def schedules(seal: Seal) -> dict[str, Schedule]:
    """The grids of the plan over the shots they were played on."""
    if seal.plan is None or seal.sha256 is None:
        return {}
    made = {}
    for split, grid in seal.plan.grids.items():
        own = split == NOISE and "principal_test" not in seal.plan.splits
        members = sealed_noise_shots(seal.sha256) if own else ()
        made[split] = grid.schedule(
            sealed_shots(sealed_seed(seal.sha256), grid.times) if split == SEALED_SPLIT else members
        )
    return made


def check_played(place: Place, seal: Seal, found: Findings, grids: Mapping[str, Schedule]) -> dict[str, pa.Table]:
    """Check every table and the sealed shots; returns the tables of tests that could be read, by name of file."""
    opening, results = seal.last("opening"), seal.last("results")
    released = released_tables(place.results, results)
    _opening(opening, found, grids)
    _shots(place, seal, found)
    bound = sorted(seal.body.get("groups", {}).get("validation", ()))
    _table(place, "validation", [place.path(name) for name in bound], seal, found, grids)
    played = {}
    for split, path in released.items():
        table = _table(place, split, [path], seal, found, grids)
        if table is not None and results is not None:
            played[place.name(path)] = table
            _as_written(place.name(path), split, path, table, results, found)
    _unreleased(place, seal, released, found)
    noise = place.results / "noise" / f"{NOISE}.parquet"
    if noise.is_file():
        table = _table(place, NOISE, [noise], seal, found, grids)
        played |= {} if table is None else {place.name(noise): table}
        said = (seal.last("noise") or {}).get("tables", {}).get(NOISE)
        if said is None:
            found.notes.append(f"{place.name(noise)} is not in the ledger: only --replay can tell if it was played so")
        else:
            found.require(store.sha256_file(noise) == said, place.name(noise), "is not the table the ledger names")
    return played


def check_report(place: Place, found: Findings) -> None:
    """The report must have been made of the files that lie here."""
    listed = place.results / "report" / "tables" / "files.csv"
    if not listed.is_file():
        return
    with found.reading(place.name(listed), "reports"), listed.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            path = place.results / row["file"]
            path = place.plan if not path.is_file() and row["file"] == place.plan.name else path
            same = path.is_file() and store.sha256_file(path) == row["sha256"]
            found.require(same, place.name(path), "is not the file the report was made of (`blindsave report`)")


def _table(
    place: Place, split: str, paths: list[Path], seal: Seal, found: Findings, grids: Mapping[str, Schedule]
) -> pa.Table | None:
    """One split's rows, from one file or several that belong together."""
    if not paths:
        return None
    with found.reading(place.name(paths[0]), "tables"):
        parts = [tables.read(path) for path in paths]
        table = parts[0] if len(parts) == 1 else tables.concatenate(parts)
        if seal.plan is not None and split in grids:
            tables.check(table, tables.Expected(seal.plan.policies(split), (grids[split].layout,)))
        found.checked["rows"] += table.num_rows
        return table
    return None


def _as_written(
    name: str, split: str, path: Path, table: pa.Table, results: Mapping[str, Any], found: Findings
) -> None:
    same = store.sha256_file(path) == results["tables"][split]
    found.require(same, name, "was changed after the release: the ledger names another hash")
    said, held = results["save_rates"].get(split, {}), save_rates(table)
    cells = {(policy, cell) for rates in (said, held) for policy in rates for cell in rates[policy]}
    other = sorted(cell for cell in cells if said.get(cell[0], {}).get(cell[1]) != held.get(cell[0], {}).get(cell[1]))
    if other:
        policy, cell = other[0]
        was, now = (rates.get(policy, {}).get(cell, {}).get("saves") for rates in (said, held))
        reason = f"{len(other)} save rates are not the ledger's, first {policy} at {cell}: {now} saves, not {was}"
        found.fail(name, reason)


def _opening(opening: Mapping[str, Any] | None, found: Findings, grids: Mapping[str, Schedule]) -> None:
    """The shots and lengths that were opened must be those that plan, freeze and code give today."""
    for split, sha256 in ({} if opening is None else opening["grids"]).items():
        if split in grids:
            full = grids[split].describe()
            old = {key: value for key, value in full.items() if key != "conditions"}
            old["disturbances"] = {CLEAN_NAME: CLEAN_V1}
            same = sha256 in (
                store.digest(full),
                *([store.digest(old)] if [*full["conditions"]] == [CLEAN_NAME] else []),
            )
            found.require(same, "results/ledger.jsonl", f"{split} was opened with other shots or lengths than these")


def _shots(place: Place, seal: Seal, found: Findings) -> None:
    path = place.results / "test" / f"{SEALED_SPLIT}_shots.json"
    if seal.sha256 is None or not (path.is_file() or seal.last("results")):
        return
    with found.reading(place.name(path)):
        seed = sealed_seed(seal.sha256)
        shots = sealed_shots(seed) if seal.plan is None else planned_sealed_shots(seal.plan, seed)
        wanted = {"seed": seed, "shots": [vars(shot) for shot in shots]}
        same = store.canonical_json(store.read_json(path)) == store.canonical_json(wanted)
        found.require(same, place.name(path), "holds other shots than the freeze hash gives")
        found.checked["sealed_shots"] += len(wanted["shots"])


def _unreleased(place: Place, seal: Seal, released: Mapping[str, Path], found: Findings) -> None:
    """Rows of a test outside its release: named, and never used; without any release they should not exist."""
    tests = seal.plan.splits if seal.plan else (SEALED_SPLIT, "principal_test")
    for path in _parquet(place.results):
        splits = _splits(path)
        for split in tests:
            if split not in splits or path == released.get(split):
                continue
            if split in released and path.parent.name == "test":
                found.fail(place.name(path), f"is not the released table of {split}: {place.name(released[split])} is")
            elif split in released:
                found.notes.append(f"{place.name(path)} holds rows of {split} outside the release and is not used")
            elif path.parent.name == "test":
                said = "the ledger holds no results" if seal.last("opening") else "the ledger knows of no opening"
                found.fail(place.name(path), f"lies here, but {said} (the same command completes a killed release)")


def _parquet(results: Path) -> Iterator[Path]:
    for path in (*sorted(results.glob("*.parquet")), *sorted(results.glob("*/*.parquet"))):
        if path.parent.name not in UNRELATED:
            yield path


def _splits(path: Path) -> set[str]:
    try:
        return set(pq.read_table(path, columns=["split"])["split"].unique().to_pylist())
    except (OSError, KeyError, pa.ArrowException):
        return {path.stem}  # whatever it is, it is called so
