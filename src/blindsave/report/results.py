"""A results folder, read and checked: episode tables by split, plan, ledger, costs, replays. docs/report.md lists it.

Nothing is required but the folder itself: what is absent is named in `missing`, and the report says so. What is present
but damaged is refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from blindsave.errors import BadFile, BadInput
from blindsave.evidence import tables
from blindsave.evidence.ledger import Entry, Ledger
from blindsave.evidence.plan import Plan, load_plan
from blindsave.evidence.tables import KEY
from blindsave.report.costs import Costs, read_costs
from blindsave.report.replays import check
from blindsave.report.teachers import Taught, read_taught
from blindsave.store import read_json
from blindsave.verify import Verification, verify
from blindsave.verify.places import FREEZE, LEDGER, LEFT_OUT, PLAN
from blindsave.verify.played import released_tables

REPLAYS, NOTES, STATEMENT = "replays.json", "deviations.md", "statement.md"
MEMORY_SPLIT, MEMORY_FOLDER = "test", "memory"
OTHER_FOLDERS = ("ppo", "teacher", "report", "datasets")
"""Folders whose tables are about how policies were made, not about the comparison."""
WANTED = {
    "principal_test": "the principal test (test/principal_test.parquet)",
    "sealed_test": "the sealed test (test/sealed_test.parquet)",
    "noise_test": "the noise extension (noise/noise_test.parquet)",
    "validation": "the validation grid (validation/*.parquet)",
}


@dataclass(frozen=True)
class Results:
    """Everything recorded of a study; what was not recorded is None, empty, or named in `missing`."""

    root: Path
    tables: Mapping[str, pa.Table]
    """By split."""
    memory: Mapping[str, pa.Table]
    """Tables of the memory tests, by file name."""
    files: Mapping[str, tuple[Path, ...]]
    """Every file that was read, by what it holds."""
    plan: Plan | None
    ledger: Ledger | None
    entries: tuple[Entry, ...]
    costs: Costs
    replays: Mapping[str, Any] | None
    notes: str
    """Deviations in words."""
    statement: str
    """One sentence for the top of the page, as "quick study at reduced budgets"."""
    missing: tuple[str, ...]
    verification: Verification | None = None
    """What `verify` found; None where nothing was ever frozen or released here."""
    taught: tuple[Taught, ...] = ()
    """Studies, this one and others below it, whose teachers have fingerprints."""


def read_results(root: str | Path) -> Results:
    """Read a results folder."""
    folder = Path(root)
    if not folder.is_dir():
        raise BadInput(f"there is no results folder {folder}")
    ledger_path, freeze_path = (path if path.is_file() else None for path in (folder / LEDGER, folder / FREEZE))
    ledger = None if ledger_path is None else Ledger(ledger_path)
    results = None if ledger is None else ledger.last("results")
    found, memory, sources = _tables(folder, released_tables(folder, results.content if results else None))
    plan_path = next((path for path in (folder / PLAN, folder.parent / PLAN) if path.is_file()), None)
    plan = None if plan_path is None else load_plan(plan_path)
    policies = {name for table in found.values() for name in table["policy"].unique().to_pylist()}
    costs = read_costs(folder / "efficiency", policies)
    replays_path, notes_path, left_out_path = folder / REPLAYS, folder / NOTES, folder / LEFT_OUT
    named = {"plan": plan_path, "ledger": ledger_path, "freeze manifest": freeze_path}
    named |= {"replays": replays_path if replays_path.is_file() else None}
    named |= {"deviations": notes_path if notes_path.is_file() else None}
    named |= {"frozen files left out": left_out_path if left_out_path.is_file() else None}
    sources |= {name: (path,) for name, path in named.items() if path is not None}
    sources |= {"efficiency": costs.files} if costs.files else {}
    taught = read_taught(folder)
    for one in taught:  # a teacher may have taught in several studies
        named_so = f"students of {one.name}"
        sources[named_so] = tuple(dict.fromkeys((*sources.get(named_so, ()), *one.sources)))
    return Results(
        root=folder,
        tables=found,
        memory=memory,
        files=sources,
        plan=plan,
        ledger=ledger,
        entries=() if ledger is None else tuple(ledger.entries()),
        costs=costs,
        replays=check(read_json(replays_path), replays_path) if replays_path.is_file() else None,
        notes=_text(notes_path),
        statement=_text(folder / STATEMENT),
        missing=tuple(_missing(found, memory, plan, named, costs)),
        verification=verified if (verified := verify(folder, report=False)).sealed else None,
        taught=taught,
    )


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""


def _tables(
    folder: Path, released: Mapping[str, Path]
) -> tuple[dict[str, pa.Table], dict[str, pa.Table], dict[str, tuple[Path, ...]]]:
    """Episode tables by split, those of the memory tests by file name, and where they lie.

    The released table of a split wins over any other; where there is none, the folder `test` does.
    """
    parts: dict[str, dict[Path, list[tuple[Path, pa.Table]]]] = {}
    memory: dict[str, pa.Table] = {}
    sources: dict[str, tuple[Path, ...]] = {}
    for path in (*sorted(folder.glob("*.parquet")), *sorted(folder.glob("*/*.parquet"))):
        if path.parent.name in OTHER_FOLDERS or not _is_episode_table(path):
            continue
        table = tables.read(path)
        splits = table["split"].unique().to_pylist()
        if MEMORY_SPLIT in splits:
            memory[path.stem] = tables.of_split(table, MEMORY_SPLIT)
            sources[f"memory test, {path.stem.replace('_', ' ')}"] = (path,)
        elif path.parent.name != MEMORY_FOLDER:
            for split in splits:
                place = parts.setdefault(split, {}).setdefault(path.parent, [])
                place.append((path, tables.of_split(table, split)))
    found = {}
    for split, places in parts.items():
        one = [(path, table) for place in places.values() for path, table in place if path == released.get(split)]
        chosen = one or places.get(folder / "test") or next(iter(places.values()))
        found[split] = _joined(split, chosen)
        sources[f"{split} episodes"] = tuple(path for path, _ in chosen)
    return found, memory, sources


def _joined(split: str, parts: list[tuple[Path, pa.Table]]) -> pa.Table:
    """Tables of one folder as one; they must cover the same episodes."""
    try:
        return tables.concatenate(table for _, table in parts)
    except BadFile as error:
        names = ", ".join(path.name for path, _ in parts)
        raise BadFile(f"the {split} tables {names} of {parts[0][0].parent} do not fit together: {error}") from error


def _is_episode_table(path: Path) -> bool:
    """Learning curves and the like are Parquet too; a damaged file is left for the reader to refuse."""
    try:
        return set(KEY) <= set(pq.read_schema(path).names)
    except (OSError, pa.ArrowException):
        return True


def _missing(
    found: Mapping[str, pa.Table],
    memory: Mapping[str, pa.Table],
    plan: Plan | None,
    named: Mapping[str, Path | None],
    costs: Costs,
) -> list[str]:
    """What a complete study has and this one has not, in words; the plan says which tests it never had."""
    wanted = WANTED if plan is None else plan.grids
    absent = [words for split, words in WANTED.items() if split in wanted and split not in found]
    if not memory:
        absent.append("the memory tests (memory/*.parquet, made by `blindsave memory-test`)")
    if not costs.timed:
        absent.append("latency measurements (efficiency/*.json, as `blindsave bench latency --json` prints them)")
    words = {
        "plan": f"the analysis plan ({PLAN})",
        "ledger": f"the ledger of freeze and release ({LEDGER})",
        "replays": f"recorded failures ({REPLAYS}, made by `blindsave report --record`)",
    }
    return absent + [text for name, text in words.items() if named[name] is None]
