"""A table as data: cells keep their numbers, and every format (Markdown, LaTeX, CSV, HTML) is written from them."""

import csv
import html
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

MISSING = "–"


@dataclass(frozen=True)
class Number:
    """A number with the decimals it is shown with."""

    value: float
    decimals: int = 1
    signed: bool = False

    def __str__(self) -> str:
        return shown(self.value, self.decimals, self.signed)


@dataclass(frozen=True)
class Estimate:
    """A number with its interval; `low` and `high` are None where there is none."""

    value: float
    low: float | None = None
    high: float | None = None
    decimals: int = 1
    signed: bool = False

    @property
    def point(self) -> str:
        """The number alone."""
        return shown(self.value, self.decimals, self.signed)

    @property
    def span(self) -> str:
        """The interval alone, or nothing."""
        if self.low is None or self.high is None:
            return ""
        return f"[{shown(self.low, self.decimals)}, {shown(self.high, self.decimals)}]"

    def __str__(self) -> str:
        return f"{self.point} {self.span}".strip()


@dataclass(frozen=True)
class Mark:
    """A word of judgement; `tone` (good, bad, odd, none) decides its colour in the page."""

    text: str
    tone: str = "none"

    def __str__(self) -> str:
        return self.text


Cell = str | int | Number | Estimate | Mark | None


@dataclass(frozen=True)
class Column:
    """A column: its name in CSV, its heading, and a heading it shares with its neighbours."""

    name: str
    title: str
    group: str = ""
    words: bool = False
    """Text that may wrap and is set flush left."""


@dataclass(frozen=True)
class Sheet:
    """A named table with a caption."""

    name: str
    title: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    emphasis: tuple[int, ...] = field(default=())
    """Rows to set apart, as the teacher's."""
    section: str = ""
    """Where the page shows it."""
    folded: bool = False
    """Whether the page hides it behind its title."""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"table {self.name}: a row has {len(row)} cells for {len(self.columns)} columns")


def shown(value: float, decimals: int, signed: bool = False) -> str:
    """A number as people read it: true minus sign, no negative zero."""
    text = f"{value:,.{decimals}f}"
    zero = not any(digit in text for digit in "123456789")
    if zero:
        return text.lstrip("-")
    return text.replace("-", "−") if value < 0 else f"+{text}" if signed else text


def p_value(value: float | None) -> str | None:
    """A p value as it is printed."""
    return None if value is None else "< 0.001" if value < 0.001 else f"{value:.3f}"


def grouped(rows: Iterable[tuple[Cell, ...]]) -> tuple[tuple[Cell, ...], ...]:
    """Rows of which the first cell is left empty where it repeats the one above."""
    made, last = [], None
    for first, *rest in rows:
        made.append(("" if first == last else first, *rest))
        last = first
    return tuple(made)


def text(cell: Cell) -> str:
    """A cell as plain text."""
    if cell is None:
        return MISSING
    return f"{cell:,}" if isinstance(cell, int) else str(cell)


def markdown(sheet: Sheet) -> str:
    """GitHub Markdown with title and caption."""
    heads = [f"{c.group}: {c.title}" if c.group else c.title for c in sheet.columns]
    rule = [":--" if _flush_left(sheet, i) else "--:" for i in range(len(heads))]
    lines = [_pipe(heads), _pipe(rule), *(_pipe([text(cell) for cell in row]) for row in sheet.rows)]
    return f"### {sheet.title}\n\n" + "\n".join(lines) + f"\n\n{sheet.caption}\n"


def latex(sheet: Sheet) -> str:
    """A booktabs table."""
    spec = "".join("l" if _flush_left(sheet, i) else "r" for i in range(len(sheet.columns)))
    body = [" & ".join(_tex(cell) for cell in row) + r" \\" for row in sheet.rows]
    head = " & ".join(escape_tex(column.title) for column in sheet.columns) + r" \\"
    lines = [
        r"\begin{table}[t]",
        r"\centering",
        rf"\begin{{tabular}}{{@{{}}{spec}@{{}}}}",
        r"\toprule",
        *_tex_groups(sheet),
        head,
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
        rf"\caption{{{escape_tex(sheet.title)}. {escape_tex(sheet.caption)}}}",
        rf"\label{{tab:{sheet.name}}}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def comma_separated(sheet: Sheet) -> str:
    """CSV with full numbers; an estimate with an interval fills three columns."""
    wide = {i for i in range(len(sheet.columns)) for row in sheet.rows if isinstance(row[i], Estimate)}
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    heads = []
    for i, column in enumerate(sheet.columns):
        heads += [column.name, f"{column.name}_low", f"{column.name}_high"] if i in wide else [column.name]
    writer.writerow(heads)
    for row in sheet.rows:
        writer.writerow([part for i, cell in enumerate(row) for part in _plain(cell, i in wide)])
    return out.getvalue()


def to_html(sheet: Sheet) -> str:
    """A table for the page; it scrolls sideways in its own box where the screen is narrow."""
    rows = []
    for number, row in enumerate(sheet.rows):
        cells = [_html_cell(sheet, i, cell) for i, cell in enumerate(row)]
        rows.append(f"<tr{' class=apart' if number in sheet.emphasis else ''}>{''.join(cells)}</tr>")
    label = html.escape(sheet.title, quote=True)
    cards = " cards" if sheet.columns[0].words else ""
    return (
        f'<figure class="sheet{cards}" id="table-{sheet.name}"><figcaption><strong>{html.escape(sheet.title)}</strong> '
        f'<span>{html.escape(sheet.caption)}</span></figcaption><div class="scroll" tabindex="0" role="region" '
        f'aria-label="{label}"><table><thead>{_html_head(sheet)}</thead><tbody>{"".join(rows)}</tbody></table>'
        f"</div></figure>"
    )


def escape_tex(words: str) -> str:
    """Text that LaTeX prints as it stands."""
    swaps = {"\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_"}
    swaps |= {"{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    swaps |= {"−": "$-$", "–": "--", "µ": r"$\mu$", "σ": r"$\sigma$", "±": r"$\pm$", "≥": r"$\geq$", "≤": r"$\leq$"}
    swaps |= {"×": r"$\times$", "→": r"$\to$"}
    return "".join(swaps.get(letter, letter) for letter in words)


def _tex(cell: Cell) -> str:
    if isinstance(cell, Estimate) and cell.span:
        return f"{escape_tex(cell.point)} {escape_tex(cell.span)}"
    return escape_tex(text(cell))


def _tex_groups(sheet: Sheet) -> list[str]:
    if not any(column.group for column in sheet.columns):
        return []
    cells, rules, at = [], [], 1
    for group, span in _spans(sheet.columns):
        cells.append(rf"\multicolumn{{{span}}}{{c}}{{{escape_tex(group)}}}" if group else " & " * (span - 1))
        if group:
            rules.append(rf"\cmidrule(lr){{{at}-{at + span - 1}}}")
        at += span
    return [" & ".join(cells) + r" \\", " ".join(rules)]


def _spans(columns: Sequence[Column]) -> list[tuple[str, int]]:
    spans: list[tuple[str, int]] = []
    for column in columns:
        if spans and spans[-1][0] == column.group:
            spans[-1] = (column.group, spans[-1][1] + 1)
        else:
            spans.append((column.group, 1))
    return spans


def _flush_left(sheet: Sheet, column: int) -> bool:
    return column == 0 or sheet.columns[column].words


def _pipe(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def _plain(cell: Cell, wide: bool) -> list[str]:
    if isinstance(cell, Estimate):
        ends = ["" if end is None else repr(end) for end in (cell.low, cell.high)]
        return [repr(cell.value), *ends]
    first = repr(cell.value) if isinstance(cell, Number) else "" if cell is None else str(cell)
    return [first, "", ""] if wide else [first]


def _html_head(sheet: Sheet) -> str:
    groups = ""
    if any(column.group for column in sheet.columns):
        cells = (
            f'<th colspan="{span}" scope="colgroup">{html.escape(group)}</th>'
            if group
            else f'<td colspan="{span}"></td>'
            for group, span in _spans(sheet.columns)
        )
        groups = f'<tr class="groups">{"".join(cells)}</tr>'
    heads = (
        f'<th scope="col"{" class=l" if _flush_left(sheet, i) else ""}>{html.escape(column.title)}</th>'
        for i, column in enumerate(sheet.columns)
    )
    return f"{groups}<tr>{''.join(heads)}</tr>"


def _html_cell(sheet: Sheet, column: int, cell: Cell) -> str:
    kind = "l words" if sheet.columns[column].words else "l" if column == 0 else ""
    tag, scope = ("th", ' scope="row"') if column == 0 else ("td", "")
    if isinstance(cell, Mark):
        inner = f'<span class="mark {cell.tone}">{html.escape(cell.text)}</span>'
    elif isinstance(cell, Estimate) and cell.span:
        inner = f"{html.escape(cell.point)} <small>{html.escape(cell.span)}</small>"
    else:
        inner = html.escape(text(cell))
    shape = f' class="{kind}"' if kind else ""
    label = f' data-label="{html.escape(sheet.columns[column].title)}"' if sheet.columns[0].words and column else ""
    return f"<{tag}{scope}{shape}{label}>{inner}</{tag}>"
