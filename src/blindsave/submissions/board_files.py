"""The leaderboard as files: Markdown for a repository, one self-contained page for a browser, JSON for programs."""

import html
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from blindsave import __version__, store
from blindsave.evidence.intervals import Interval
from blindsave.submissions.board import Board, Entry
from blindsave.submissions.card import STEP_MS

MARKDOWN, PAGE, DATA = "leaderboard.md", "index.html", "leaderboard.json"
AXIS_FROM = 30.0
"""Left end of the page's intervals, in per cent: chance is above 40."""


def write(board: Board, out: Path) -> dict[str, Path]:
    """Write all three."""
    return {
        "markdown": store.write_whole(out / MARKDOWN, markdown(board)),
        "page": store.write_whole(out / PAGE, page(board)),
        "data": store.write_json(out / DATA, document(board)),
    }


def document(board: Board) -> dict[str, Any]:
    """Everything as plain values."""
    return {
        "plan_sha256": board.plan.sha256,
        "endpoint": board.plan.blackout,
        "reference": board.plan.reference,
        "entries": [one.to_dict() for one in board.entries],
        "refused": {name: [vars(one) for one in failures] for name, failures in board.refused.items()},
    }


def markdown(board: Board) -> str:
    """A table, how to read it, and who was refused."""
    heads = columns(board)
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    lines += [
        f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row(one, board))} |" for one in board.entries
    ]
    return "\n".join([f"# {HEADING}", "", explanation(board), "", *lines, *_refused_lines(board.refused), ""])


HEADING = "Leaderboard"


def explanation(board: Board) -> str:
    """How to read the table."""
    ms = STEP_MS * board.plan.blackout
    return (
        "Saves in % with 95 % intervals over training seeds and shots (multi-reader multi-case analysis); the"
        f" difference to the {board.plan.reference} is in points, on the same shots, with the puck hidden for {ms} ms."
        " The principal test is public and the same for everybody; the sealed test of each entry was drawn from its"
        " own weights. Every row was played again, bit by bit, before it was counted. Where intervals overlap,"
        " the order says little."
    )


def columns(board: Board) -> list[str]:
    """Heads of the table."""
    end = STEP_MS * board.plan.blackout
    lengths = [f"{STEP_MS * length} ms" for length in _lengths(board)]
    return ["", "policy", "weights", "seeds", *lengths, f"minus {board.plan.reference}", f"sealed, {end} ms"]


def row(one: Entry, board: Board) -> list[str]:
    """Cells of one entry."""
    rates = [
        _with_ends(one.rates[length]) if length == board.plan.blackout else f"{100 * one.rates[length].estimate:.1f}"
        for length in _lengths(board)
    ]
    apart = one.difference
    said = "reference"
    if apart is not None:
        said = f"{100 * apart.estimate:+.1f} [{100 * apart.low:+.1f}, {100 * apart.high:+.1f}]"
        said += f", equal within {100 * board.plan.margin:g}" if apart.equivalence.equivalent else ""
    made, place = one.submission, str(board.entries.index(one) + 1)
    return [place, made.about.title, f"{made.weights:,}", str(len(made.seeds)), *rates, said, _with_ends(one.sealed)]


def page(board: Board) -> str:
    """One page without any other file."""
    heads = columns(board)
    body = "".join(_page_row(one, board, heads) for one in board.entries)
    refused = "".join(
        f"<li><b>{html.escape(name)}</b>: {html.escape(str(failures[0]))}"
        f"{f' (and {len(failures) - 1} more)' if len(failures) > 1 else ''}</li>"
        for name, failures in board.refused.items()
    )
    return Template((files("blindsave.submissions") / "board.html").read_text("utf-8")).substitute(
        heading=HEADING,
        explanation=html.escape(explanation(board)),
        heads="".join(f"<th scope=col>{html.escape(head)}</th>" for head in heads),
        rows=body,
        refused=f"<h2>Refused</h2><ul>{refused}</ul>" if refused else "",
        version=html.escape(__version__),
        plan=board.plan.sha256[:16],
    )


def _page_row(one: Entry, board: Board, heads: list[str]) -> str:
    cells = row(one, board)
    made, rate = one.submission, one.rates[board.plan.blackout]
    title = html.escape(made.about.title)
    link = made.about.link
    title = f'<a href="{html.escape(link)}">{title}</a>' if link.startswith(("https://", "http://")) else title
    by = f"<small>{html.escape(made.about.authors)}</small>" if made.about.authors else ""
    end = f"{STEP_MS * board.plan.blackout} ms"
    filled = []
    for head, cell in zip(heads, cells, strict=True):
        said, _, verdict = html.escape(cell).rpartition(", ")
        inner = f"{title}{by}" if head == "policy" else html.escape(cell)
        inner = f"{said}<small>{verdict}</small>" if verdict.startswith("equal") else inner
        inner += _bar(rate) if head == end else ""
        tag = "th scope=row" if head == "policy" else "td"
        filled.append(f'<{tag} data-head="{html.escape(head)}">{inner}</{tag.split()[0]}>')
    return f"<tr>{''.join(filled)}</tr>"


def _bar(rate: Interval) -> str:
    low, at, high = (
        100 * (100 * value - AXIS_FROM) / (100 - AXIS_FROM) for value in (rate.low, rate.estimate, rate.high)
    )
    low, at, high = (min(100.0, max(0.0, value)) for value in (low, at, high))
    return f'<i class=axis><i style="left:{low:.1f}%;width:{high - low:.1f}%"></i><b style="left:{at:.1f}%"></b></i>'


def _with_ends(rate: Interval) -> str:
    return f"{100 * rate.estimate:.1f} [{100 * rate.low:.1f}, {100 * rate.high:.1f}]"


def _lengths(board: Board) -> list[int]:
    """Lengths shown: none, half of the endpoint, the endpoint, the longest."""
    end = board.plan.blackout
    known = sorted({length for one in board.entries for length in one.rates})
    return [length for length in known if length in (0, end // 2, end) or length == known[-1]]


def _refused_lines(refused: Mapping[str, tuple[Any, ...]]) -> list[str]:
    if not refused:
        return []
    return ["", "Refused:", "", *(f"- {name}: {failures[0]}" for name, failures in refused.items())]
