"""One row of a submission, forged."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from blindsave.submissions.layout import ROWS


def forge_row(folder: Path) -> dict:
    """Turn one conceded goal into a save, consistently; returns the row's key."""
    table = pq.read_table(folder / ROWS)
    at = table["save"].to_pylist().index(False)
    for column, value in (("save", True), ("outcome", "returned")):
        place = table.schema.get_field_index(column)
        values = table[column].to_pylist()
        values[at] = value
        table = table.set_column(place, table.schema.field(place), pa.array(values, table.schema.field(place).type))
    pq.write_table(table, folder / ROWS)
    return table.slice(at, 1).to_pylist()[0]
