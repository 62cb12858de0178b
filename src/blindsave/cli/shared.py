"""What commands share: options and their checks, tables on standard output, lines on standard error."""

import json
import math
import re
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

import tyro

from blindsave.errors import BadInput

Threads = Annotated[
    int | None,
    tyro.conf.arg(help="Threads of the simulation; all cores by default. Results do not depend on it."),
]

WORDY = 16
"""Letters that a column of words keeps, however little room there is."""


def numbers(text: str, what: str) -> tuple[float, ...]:
    """Read "0,5,10" as finite numbers."""
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


def at_least_one(**options: int) -> None:
    """Refuse an option below one."""
    for name, value in options.items():
        if value < 1:
            raise BadInput(f"--{name.replace('_', '-')} must be at least 1, got {value}")


def tell(line: str) -> None:
    """Say something on standard error at once."""
    print(line, file=sys.stderr, flush=True)


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table: words to the left, numbers to the right; long words are folded to fit, numbers never cut.

    Where the numbers of one row do not fit, the table goes on below with further columns, the first one repeated.
    """
    from rich.console import Console

    rows = [list(row) for row in rows]
    numeric = [i > 0 and not any(re.search("[A-Za-z]{4}", row[i]) for row in rows) for i in range(len(columns))]
    console = Console(soft_wrap=True)
    least = _widths(columns, rows, numeric, 0)
    for number, chosen in enumerate(_blocks(least, console.width)):
        names, cells = [columns[i] for i in chosen], [[row[i] for i in chosen] for row in rows]
        kinds = [numeric[i] for i in chosen]
        widths = _widths(names, cells, kinds, console.width - 3 * len(chosen) - 1)
        _print_block(console, title if number == 0 else "", names, cells, kinds, widths)


def _blocks(least: Sequence[int], room: int) -> list[list[int]]:
    """Columns that fit beside each other, the first one always among them; one at least, however wide."""
    blocks: list[list[int]] = [[0]] if least else []
    for i in range(1, len(least)):
        beside = [*blocks[-1], i]
        if len(blocks[-1]) > 1 and sum(least[k] for k in beside) + 3 * len(beside) + 1 > room:
            blocks.append([0, i])
        else:
            blocks[-1].append(i)
    return blocks


def _print_block(
    console: Any, title: str, columns: list[str], rows: list[list[str]], numeric: list[bool], widths: list[int]
) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title) if title else None, title_justify="left", show_header=any(columns))
    for column, number, width in zip(columns, numeric, widths, strict=True):
        table.add_column(column, justify="right" if number else "left", overflow="fold", width=width)
    for row in rows:
        table.add_row(*map(Text, row))
    narrow, console.width = console.width, max(console.width, sum(widths) + 3 * len(columns) + 1)
    console.print(table)
    console.width = narrow


def _widths(columns: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool], room: int) -> list[int]:
    """Widths of a table's columns: wordy ones, widest first, give way until all of them fit."""
    from rich.cells import cell_len

    cells = [[cell_len(line) for row in rows for line in row[i].splitlines()] or [0] for i in range(len(columns))]
    widths = [max(cell_len(column), *found) for column, found in zip(columns, cells, strict=True)]
    words = [max(map(cell_len, column.split()), default=1) for column in columns]
    least = [max(words[i], max(cells[i]) if numeric[i] else min(widths[i], WORDY)) for i in range(len(columns))]
    while sum(widths) > room:
        yielding = [i for i in range(len(columns)) if widths[i] > least[i]]
        if not yielding:
            break
        widths[max(yielding, key=widths.__getitem__)] -= 1
    return widths


def facts(values: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Named values as text, those inside others with the outer name in front."""
    found: dict[str, str] = {}
    for name, value in values.items():
        said = f"{prefix}{str(name).replace('_', ' ')}"
        if isinstance(value, Mapping) and value.keys() == {"saves", "shots"}:
            found[said] = f"{value['saves']} of {value['shots']}"
        elif isinstance(value, Mapping):
            found |= facts(value, f"{said}, ")
        elif isinstance(value, list | tuple) and not any(isinstance(one, Mapping | list) for one in value):
            found[said] = ", ".join(map(_fact, value)) or "none"
        else:
            found[said] = _fact(value)
    return found


def _fact(value: Any) -> str:
    plain = {None: "-", True: "yes", False: "no"}
    if value is None or isinstance(value, bool):
        return plain[value]
    return f"{value:.6g}" if isinstance(value, float) else value if isinstance(value, str) else json.dumps(value)


def print_facts(title: str, values: Mapping[str, Any]) -> None:
    """Print named values, one to a line; long ones (hashes, paths) on a line of their own, where they can be copied."""
    found, room = facts(values), shutil.get_terminal_size().columns
    width = max(map(len, found), default=0)
    print(title)
    for name, text in found.items():
        line = f"  {name:<{width}}  {text}"
        print(line if len(line) <= room else f"  {name}\n    {text}")


def print_saves(split: str, policies: Mapping[str, Mapping[str, Any]]) -> None:
    """Print save rates of policies, whose cells by length hold `saves` and `shots`."""
    found = {length for cells in policies.values() for length in cells}
    lengths = sorted(found, key=lambda name: (int(name.partition("+")[0]), name))  # "20", or "20+noise_5mm"
    rows = [[name, *(_rate(cells.get(length)) for length in lengths)] for name, cells in policies.items()]
    print_table(f"{split}: saves in %, by hidden control steps", ["policy", *lengths], rows)


def _rate(cell: Mapping[str, int] | None) -> str:
    return "-" if cell is None else f"{100 * cell['saves'] / cell['shots']:.1f}"
