"""Rows played again: who forges a table and all its hashes still has to make the policies play so."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from blindsave.evidence.schedule import Schedule
from blindsave.evidence.tables import KEY
from blindsave.policies.catalog import NamedPolicy, from_file
from blindsave.progress import Progress
from blindsave.verify.findings import Findings
from blindsave.verify.places import Place
from blindsave.verify.seal import Seal

RECORD = ("outcome", "save", "steps", "first_contact", "reward")
NAMED = 20
"""Differing rows named for each policy and table; the rest are counted."""


@dataclass(frozen=True)
class Replay:
    """Which rows: so many at random, by a seed, or all (None)."""

    rows: int | None
    seed: int = 0
    threads: int | None = None


def replay_rows(
    place: Place,
    seal: Seal,
    played: Mapping[str, pa.Table],
    grids: Mapping[str, Schedule],
    replay: Replay,
    found: Findings,
) -> None:
    """Play rows of the test tables again and compare every value, bit for bit."""
    here = {name: _of_present(table, seal.absent) for name, table in played.items()}
    total, playable = (sum(table.num_rows for table in some.values()) for some in (played, here))
    if playable < total:
        left = f"{total - playable} of {total} rows cannot be played again"
        found.notes.append(f"{left}: the policies that played them are left out")
    chosen = choose(here, replay)
    with Progress("rows played again", sum(map(len, chosen.values()))) as bar:
        for (name, policy, seed), rows in chosen.items():
            model = seal.body.get("policies", {}).get(f"{policy}/{seed}")
            if model is None:
                found.fail(name, f"nothing frozen could have played the rows of {policy}/{seed}")
                continue
            with found.reading(model):
                named = from_file(place.path(model), policy, seed)
                compare(name, named, rows, grids[rows[0]["split"]], replay.threads, bar.advance, found)


def _of_present(table: pa.Table, absent: Collection[str]) -> pa.Table:
    """The rows whose policies are here."""
    players = zip(table["policy"].to_pylist(), table["training_seed"].to_pylist(), strict=True)
    return table.filter(pa.array([f"{policy}/{seed}" not in absent for policy, seed in players])) if absent else table


def compare(
    file: str,
    named: NamedPolicy,
    rows: list[dict[str, Any]],
    grid: Schedule,
    threads: int | None,
    tell: Callable[[int], None],
    found: Findings,
) -> None:
    """Play rows of one policy and test again, and name those of the file that come out otherwise."""
    again = _play(named.policy, rows, grid, threads, tell)
    differing = [text for row, new in zip(rows, again, strict=True) if (text := _difference(row, new))]
    for text in differing[:NAMED]:
        found.fail(file, text)
    if len(differing) > NAMED:
        found.fail(file, f"{len(differing) - NAMED} more rows of {named.name} come out otherwise")
    found.checked["rows_played_again"] += len(rows)


def choose(played: Mapping[str, pa.Table], replay: Replay) -> dict[tuple[str, str, int], list[dict[str, Any]]]:
    """Rows by table, policy and training seed."""
    total = sum(table.num_rows for table in played.values())
    rng = np.random.default_rng(replay.seed)
    count = total if replay.rows is None else min(replay.rows, total)
    picked = np.sort(rng.choice(total, count, replace=False)) if total else np.zeros(0, int)
    groups, start = defaultdict(list), 0
    for name, table in played.items():
        mine = picked[(picked >= start) & (picked < start + table.num_rows)] - start
        start += table.num_rows
        for row in table.take(pa.array(mine)).to_pylist():
            groups[name, row["policy"], row["training_seed"]].append(row)
    return groups


def _play(
    player: Any, rows: list[dict[str, Any]], grid: Schedule, threads: int | None, tell: Callable[[int], None]
) -> list[tuple[Any, ...]]:
    from blindsave.policies.closed_loop import run

    shots = {shot.id: shot for shot in grid.shots}
    kinds = {condition.name: condition for condition in grid.conditions}
    episodes = [kinds[row["disturbance"]].episode(shots[row["shot_id"]], row["blackout"]) for row in rows]
    got = run(player, episodes, threads=threads, progress=tell)
    return list(zip(got.labels, got.saved, got.steps, got.first_contact, got.reward, strict=True))


def _difference(row: Mapping[str, Any], again: tuple[Any, ...]) -> str | None:
    """What differs between a row and its replay; rewards are equal only to the last bit."""
    for column, new in zip(RECORD, again, strict=True):
        if row[column] != new:
            key = ", ".join(f"{name}={row[name]}" for name in KEY)
            return f"played again, the row ({key}) has {column} {new}, not {row[column]}"
    return None
