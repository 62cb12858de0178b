"""What commands share: options and their checks, tables on standard output, lines on standard error."""

import json
import math
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

import tyro

from blindsave.errors import BadInput

Threads = Annotated[
    int | None,
    tyro.conf.arg(help="Threads of the simulation; all cores by default. Results do not depend on it."),
]

MOST = 1_000_000_000
"""Of anything that is counted."""
MOST_COLUMNS = 200
"""Letters in a line; longer words are folded."""


def numbers(text: str, what: str) -> tuple[float, ...]:
    """Read "0,5,10" as numbers."""
    try:
        found = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise BadInput(f"{what} must be numbers separated by commas, not '{text}'") from None
    if not all(map(math.isfinite, found)):
        raise BadInput(f"{what} must be finite numbers, not '{text}'")
    return found


def whole_numbers(text: str, what: str) -> tuple[int, ...]:
    """Read "0,5,10" as whole numbers."""
    found = numbers(text, what)
    for value in found:
        if value != int(value):
            raise BadInput(f"{what} must be whole numbers, not {value:g}")
    return tuple(int(value) for value in found)


def at_least_one(**options: int | None) -> None:
    """Refuse an option below one, or one that no machine could hold."""
    for name, value in options.items():
        if value is not None and value < 1:
            raise BadInput(f"--{name.replace('_', '-')} must be at least 1, got {value}")
        if value is not None and value > MOST:
            raise BadInput(f"--{name.replace('_', '-')} must be at most {MOST:,}, got {value}")


def tell(line: str) -> None:
    """Say something on standard error at once."""
    print(line, file=sys.stderr, flush=True)


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table: words to the left, numbers to the right, nothing cut off even where the terminal is narrow."""
    from rich.console import Console
    from rich.measure import Measurement
    from rich.table import Table
    from rich.text import Text

    rows = [list(row) for row in rows]
    table = Table(title=Text(title) if title else None, title_justify="left", show_header=any(columns))
    for index, column in enumerate(columns):
        number = index > 0 and not any(re.search("[A-Za-z]{4}", row[index]) for row in rows)
        table.add_column(column, justify="right" if number else "left", no_wrap=number, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    console = Console(soft_wrap=True)
    wide = console.options.update(max_width=MOST_COLUMNS)
    console.width = max(console.width, Measurement.get(console, wide, table).maximum)
    console.print(table)


def print_facts(title: str, values: Mapping[str, Any]) -> None:
    """Print named values, one to a line."""
    rows = []
    for name, value in values.items():
        text = f"{value:.6g}" if isinstance(value, float) else value if isinstance(value, str) else json.dumps(value)
        rows.append([name.replace("_", " "), text])
    print_table(title, ["", ""], rows)


def print_saves(split: str, policies: Mapping[str, Mapping[str, Any]]) -> None:
    """Print save rates of policies, whose cells by length hold `saves` and `shots`."""
    found = {length for cells in policies.values() for length in cells}
    lengths = sorted(found, key=lambda name: (int(name.partition("+")[0]), name))  # "20", or "20+noise_5mm"
    rows = [[name, *(_rate(cells.get(length)) for length in lengths)] for name, cells in policies.items()]
    print_table(f"{split}: saves in %, by hidden control steps", ["policy", *lengths], rows)


def _rate(cell: Mapping[str, int] | None) -> str:
    return "-" if cell is None else f"{100 * cell['saves'] / cell['shots']:.1f}"
