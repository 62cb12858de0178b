"""Tables of the report in tests."""

from typing import Any

from blindsave.report.sheet import Sheet


def cell(sheet: Sheet, row: str, column: str) -> Any:
    """The cell of a column in the first row that begins with a word."""
    return next(r[place(sheet, column)] for r in sheet.rows if r[0] == row)


def place(sheet: Sheet, column: str) -> int:
    """The number of a column."""
    return [c.name for c in sheet.columns].index(column)
