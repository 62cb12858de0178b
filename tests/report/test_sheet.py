import csv
import io

import pytest

from blindsave.report.sheet import (
    Column,
    Estimate,
    Mark,
    Number,
    Sheet,
    comma_separated,
    latex,
    markdown,
    shown,
    to_html,
)

COLUMNS = (Column("who", "Who"), Column("rate", "Rate (%)", "Test"), Column("n", "Shots", "Test"), Column("ok", "OK?"))
ROWS = (
    ("A & B", Estimate(98.3111, 96.5, 99.64), 1125, Mark("yes <really>", "good")),
    ("C_d", Estimate(-0.04, None, None, 1, True), None, "50 %"),
)
SHEET = Sheet("demo", "A title", "A caption.", COLUMNS, ROWS, emphasis=(1,))


def test_numbers_are_shown_with_a_true_minus_and_never_as_negative_zero():
    assert shown(-1.25, 1) == "−1.2"
    assert shown(-0.04, 1, signed=True) == "0.0"
    assert shown(0.5, 1, signed=True) == "+0.5"
    assert shown(12345.6, 0) == "12,346"
    assert str(Number(2.0, 2)) == "2.00"
    assert str(Estimate(1.0, -2.0, 3.0, 1, True)) == "+1.0 [−2.0, 3.0]"


def test_markdown_has_one_line_per_row_and_escapes_pipes():
    lines = markdown(Sheet("x", "T", "C", (Column("a", "A"),), (("1|2",),))).splitlines()
    assert lines[2:5] == ["| A |", "| :-- |", r"| 1\|2 |"]
    assert "| C_d | 0.0 | – | 50 % |" in markdown(SHEET)
    assert "Test: Rate (%)" in markdown(SHEET)


def test_latex_escapes_text_and_keeps_numbers_in_order():
    text = latex(SHEET)
    assert r"A \& B & 98.3 [96.5, 99.6] & 1,125 & yes <really> \\" in text
    assert r"C\_d" in text and r"50 \%" in text
    assert r"\multicolumn{2}{c}{Test}" in text and r"\cmidrule(lr){2-3}" in text
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 1


def test_csv_keeps_full_numbers_and_gives_intervals_their_own_columns():
    rows = list(csv.DictReader(io.StringIO(comma_separated(SHEET))))
    assert float(rows[0]["rate"]) == 98.3111
    assert (float(rows[0]["rate_low"]), float(rows[0]["rate_high"])) == (96.5, 99.64)
    assert rows[1]["rate_low"] == "" and rows[1]["n"] == ""


def test_html_escapes_everything_and_marks_verdicts():
    text = to_html(SHEET)
    assert "yes &lt;really&gt;" in text and "A &amp; B" in text
    assert 'class="mark good"' in text
    assert '<th colspan="2" scope="colgroup">Test</th>' in text


def test_a_row_of_the_wrong_length_is_refused():
    with pytest.raises(ValueError, match="1 cells for 2 columns"):
        Sheet("x", "T", "C", COLUMNS[:2], (("only",),))
