"""Episode tables: one row per episode, stored by key and never by order of completion.

The key is (policy, training_seed, split, shot_id, blackout, disturbance). Before any statistic a table is checked:
a missing, duplicated, misplaced or foreign row is refused with the key of the first offender.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from blindsave.errors import BadFile
from blindsave.evidence.schedule import Layout, ShotRow
from blindsave.store import write_whole

KEY = ("policy", "training_seed", "split", "shot_id", "blackout", "disturbance")
SCHEMA = pa.schema(
    [
        pa.field("policy", pa.string(), nullable=False),
        pa.field("training_seed", pa.int32(), nullable=False),
        pa.field("split", pa.string(), nullable=False),
        pa.field("shot_id", pa.string(), nullable=False),
        pa.field("alias_family", pa.string()),
        pa.field("unit", pa.string(), nullable=False),
        pa.field("launch_region", pa.string(), nullable=False),
        pa.field("target_region", pa.string(), nullable=False),
        pa.field("blackout", pa.int16(), nullable=False),
        pa.field("disturbance", pa.string(), nullable=False),
        pa.field("outcome", pa.string(), nullable=False),
        pa.field("save", pa.bool_(), nullable=False),
        pa.field("steps", pa.int16(), nullable=False),
        pa.field("first_contact", pa.int16(), nullable=False),
        pa.field("reward", pa.float64(), nullable=False),
        pa.field("action_mse", pa.float32()),
    ]
)
_OF_THE_SHOT = ShotRow._fields[1:]


@dataclass(frozen=True)
class Expected:
    """What a complete table holds: these policies (with their training seeds) over these grids."""

    policies: Mapping[str, tuple[int, ...]]
    layouts: tuple[Layout, ...]

    @property
    def runs(self) -> list[tuple[str, int]]:
        """Policies and training seeds in key order."""
        return [(policy, seed) for policy in sorted(self.policies) for seed in sorted(self.policies[policy])]

    @property
    def rows_per_run(self) -> int:
        """Rows of one policy."""
        return sum(map(len, self.layouts))

    @property
    def rows(self) -> int:
        """Rows of a complete table."""
        return len(self.runs) * self.rows_per_run

    @property
    def ordered_layouts(self) -> list[Layout]:
        """Grids in key order."""
        return sorted(self.layouts, key=lambda layout: layout.split)


def rows(
    policy: str,
    training_seed: int,
    layout: Layout,
    outcome: Sequence[str],
    save: np.ndarray,
    steps: np.ndarray,
    first_contact: np.ndarray,
    reward: np.ndarray,
    action_mse: np.ndarray | None = None,
) -> pa.Table:
    """Lay one policy's results, given in the layout's order, out as table rows."""
    n = len(layout)
    cells = [layout.cell(place) for place in range(n)]
    error = pa.nulls(n, pa.float32()) if action_mse is None else pa.array(action_mse, pa.float32())
    columns = {
        "policy": [policy] * n,
        "training_seed": np.full(n, training_seed, np.int32),
        "split": [layout.split] * n,
        **{name: [getattr(shot, name) for shot, _, _ in cells] for name in ShotRow._fields},
        "blackout": np.array([blackout for _, blackout, _ in cells], np.int16),
        "disturbance": [disturbance for _, _, disturbance in cells],
        "outcome": list(outcome),
        "save": np.asarray(save, bool),
        "steps": np.asarray(steps, np.int16),
        "first_contact": np.asarray(first_contact, np.int16),
        "reward": np.asarray(reward, np.float64),
        "action_mse": error,
    }
    return pa.table(columns, schema=SCHEMA)


def concatenate(tables: Iterable[pa.Table], expected: Expected | None = None) -> pa.Table:
    """Join tables into one, in key order, and check it."""
    joined = pa.concat_tables(list(tables)).combine_chunks()
    expected = expected or infer(joined)
    positions = _positions(joined, expected)
    ordered = joined.take(pa.array(np.argsort(positions, kind="stable")))
    check(ordered, expected)
    return ordered


def check(table: pa.Table, expected: Expected | None = None) -> pa.Table:
    """Refuse a table with a missing, duplicated, foreign or misplaced row, naming the first offender's key.

    Without `expected` the policies, shots and conditions that occur anywhere in the table must all be crossed.
    """
    _check_columns(table)
    expected = expected or infer(table)
    positions = _positions(table, expected)
    _refuse_first(table, np.flatnonzero(positions < 0), "a foreign row")
    first_seen = np.zeros(len(positions), bool)
    first_seen[np.unique(positions, return_index=True)[1]] = True
    _refuse_first(table, np.flatnonzero(~first_seen), "a duplicated row")
    if len(positions) != expected.rows:
        absent = np.setdiff1d(np.arange(expected.rows), positions, assume_unique=True)[0]
        raise BadFile(f"the episode table lacks the row {_text(_key_at(expected, int(absent)))}")
    _refuse_first(table, np.flatnonzero(np.diff(positions) < 0) + 1, "a row out of order")
    _check_values(table, expected)
    return table


def infer(table: pa.Table) -> Expected:
    """What a table would have to hold to be complete, judged by what it holds."""
    policies: dict[str, tuple[int, ...]] = {}
    pairs = table.select(["policy", "training_seed"]).group_by(["policy", "training_seed"]).aggregate([])
    for row in sorted(pairs.to_pylist(), key=lambda row: (row["policy"], row["training_seed"])):
        policies[row["policy"]] = (*policies.get(row["policy"], ()), row["training_seed"])
    splits = sorted(table["split"].unique().to_pylist())
    return Expected(policies, tuple(_infer_layout(table, split) for split in splits))


def write(table: pa.Table, path: str | Path) -> Path:
    """Write a table as Parquet, whole or not at all; equal tables give equal bytes."""
    plain = table.cast(SCHEMA).replace_schema_metadata(None)
    return write_whole(path, lambda temporary: pq.write_table(plain, temporary, compression="zstd"))


def read(path: str | Path, expected: Expected | None = None) -> pa.Table:
    """Read and check a table; damage is a `BadFile` that names the file."""
    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise BadFile(f"{path} cannot be read as an episode table: {error}") from error
    try:
        return check(table, expected)
    except BadFile as error:
        raise BadFile(f"{path}: {error}") from error


def of_split(table: pa.Table, split: str) -> pa.Table:
    """The rows of one split."""
    return table.filter(pa.array(_codes(table["split"], [split]) == 0))


def key(table: pa.Table, row: int) -> dict[str, Any]:
    """The key of one row."""
    return {name: table[name][row].as_py() for name in KEY}


def _positions(table: pa.Table, expected: Expected) -> np.ndarray:
    """Each row's place in the complete table, or -1 where the row does not belong to it."""
    names = sorted(expected.policies)
    policy, seed = _codes(table["policy"], names), table["training_seed"].to_numpy()
    run = np.full(table.num_rows, -1)
    for index, (name, number) in enumerate(expected.runs):
        run[(policy == names.index(name)) & (seed == number)] = index
    place = np.full(table.num_rows, -1)
    offset = 0
    for layout in expected.ordered_layouts:
        shot = _codes(table["shot_id"], [row.shot_id for row in layout.shots])
        blackout = _codes(table["blackout"], list(layout.blackouts))
        disturbance = _codes(table["disturbance"], list(layout.disturbances))
        ours = _codes(table["split"], [layout.split]) == 0
        known = ours & (shot >= 0) & (blackout >= 0) & (disturbance >= 0)
        cell = (shot * len(layout.blackouts) + blackout) * len(layout.disturbances) + disturbance
        place[known] = offset + cell[known]
        offset += len(layout)
    return np.where((run >= 0) & (place >= 0), run * offset + place, -1)


def _key_at(expected: Expected, position: int) -> dict[str, Any]:
    run, place = divmod(position, expected.rows_per_run)
    for layout in expected.ordered_layouts:
        if place < len(layout):
            shot, blackout, disturbance = layout.cell(place)
            values = (*expected.runs[run], layout.split, shot.shot_id, blackout, disturbance)
            return dict(zip(KEY, values, strict=True))
        place -= len(layout)
    raise AssertionError("position beyond the table")


def _codes(column: pa.ChunkedArray, values: list[Any]) -> np.ndarray:
    """Each entry's place in a list of values, or -1."""
    if not len(column):
        return np.zeros(0, np.int64)
    encoded = column.combine_chunks().dictionary_encode()
    place = {value: index for index, value in enumerate(values)}
    places = np.array([place.get(value, -1) for value in encoded.dictionary.to_pylist()], np.int64)
    return places[encoded.indices.to_numpy()]


def _infer_layout(table: pa.Table, split: str) -> Layout:
    part = of_split(table, split)
    shots = _codes(part["shot_id"], part["shot_id"].unique().to_pylist())
    first = part.take(pa.array(np.unique(shots, return_index=True)[1]))
    members = tuple(ShotRow(**row) for row in first.select(ShotRow._fields).to_pylist())
    blackouts = tuple(sorted(part["blackout"].unique().to_pylist()))
    return Layout(split, members, blackouts, tuple(part["disturbance"].unique().to_pylist()))


def _check_columns(table: pa.Table) -> None:
    if table.schema.names != SCHEMA.names:
        odd = sorted(set(table.schema.names) ^ set(SCHEMA.names)) or ["their order"]
        raise BadFile(f"this is not an episode table: its columns differ from the schema in {', '.join(odd)}")
    for field in SCHEMA:
        column = table[field.name]
        if column.type != field.type:
            raise BadFile(f"column {field.name} of the episode table is {column.type}, not {field.type}")
        if column.null_count and not field.nullable:
            raise BadFile(f"column {field.name} of the episode table has empty entries")


def _check_values(table: pa.Table, expected: Expected) -> None:
    """Columns that follow from the key or from each other must agree with it."""
    from blindsave.task.outcomes import Outcome

    shots = {row.shot_id: row for layout in expected.layouts for row in layout.shots}
    ids = _codes(table["shot_id"], list(shots))
    for name in _OF_THE_SHOT:
        wanted = np.array([getattr(shot, name) for shot in shots.values()], object)[ids]
        wrong = table[name].to_numpy(zero_copy_only=False) != wanted
        _refuse_first(table, np.flatnonzero(wrong), f"a foreign {name} in the row")
    endings = {outcome.label: outcome.saved for outcome in Outcome if outcome.value}
    ending = _codes(table["outcome"], list(endings))
    _refuse_first(table, np.flatnonzero(ending < 0), "an unknown outcome in the row")
    saved = np.array(list(endings.values()))[ending]
    wrong = table["save"].to_numpy(zero_copy_only=False) != saved
    _refuse_first(table, np.flatnonzero(wrong), "a save that contradicts the outcome in the row")


def _refuse_first(table: pa.Table, offenders: np.ndarray, what: str) -> None:
    if len(offenders):
        raise BadFile(f"the episode table holds {what} {_text(key(table, int(offenders[0])))}")


def _text(row_key: Mapping[str, Any]) -> str:
    return "(" + ", ".join(f"{name}={row_key[name]}" for name in KEY) + ")"
