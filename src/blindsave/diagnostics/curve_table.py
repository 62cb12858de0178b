"""Learning curves of a study's students in one small Parquet file.

What the `metrics.jsonl` of every training says, without its seconds: equal studies have equal curves, to the byte.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from blindsave.errors import BadFile, BadInput
from blindsave.learning.distil.history import read_lines
from blindsave.store import write_whole

PLACE = Path("training") / "curves.parquet"
"""Below a study's results."""
METRICS = ("train_loss", "validation_loss", "gradient_norm")
NAMES = ("stage", "family")
SCHEMA = pa.schema(
    [(name, pa.string()) for name in NAMES]
    + [("seed", pa.int32()), ("epoch", pa.int32())]
    + [(name, pa.float32()) for name in METRICS]
)


def add(path: Path, stage: str, trainings: Mapping[str, Path]) -> Path:
    """Put the metrics files of a stage, by family, beside the curves of other stages, in place of its own."""
    rows = [
        {"stage": stage, "family": family, **{name: row[name] for name in SCHEMA.names[len(NAMES) :]}}
        for family, metrics in trainings.items()
        for row in read_lines(metrics)
    ]
    parts = [pa.Table.from_pylist(rows, SCHEMA)]
    if path.is_file():
        there = _table(path)
        parts.append(there.filter(pa.array([one != stage for one in there["stage"].to_pylist()], pa.bool_())))
    order = [(name, "ascending") for name in ("stage", "family", "seed", "epoch")]
    # One chunk, sorted: neighbours are alike and compress well, and the order of writing leaves no trace.
    table = pa.concat_tables(parts).sort_by(order).combine_chunks()
    return write_whole(path, lambda temporary: _write(table, temporary))


def read(path: Path, stage: str, family: str) -> list[dict[str, Any]]:
    """The rows of one training, seed by seed: `seed`, `epoch` and the metrics."""
    table = _table(path)
    found = [row for row in table.to_pylist() if (row["stage"], row["family"]) == (stage, family)]
    if not found:
        there = sorted({f"{row['stage']} of {row['family']}" for row in table.select(NAMES).to_pylist()})
        raise BadInput(f"{path} has no {stage} of {family or 'no family'}; it has {', '.join(there) or 'none'}")
    return [{name: row[name] for name in row if name not in NAMES} for row in found]


def _table(path: Path) -> pa.Table:
    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise BadFile(f"{path} cannot be read as learning curves: {error}") from error
    if table.schema.names != SCHEMA.names:
        raise BadFile(f"{path} holds no learning curves")
    return table.cast(SCHEMA)


def _write(table: pa.Table, path: Path) -> None:
    # Floats byte by byte: signs and sizes of neighbours agree, their last digits do not.
    options: dict[str, Any] = {"use_dictionary": list(NAMES), "use_byte_stream_split": list(METRICS)}
    pq.write_table(table, path, compression="zstd", compression_level=19, **options)
