"""Progress: lines where there is no terminal, listeners, silence, and words that stay."""

import io
import sys

import pytest

from blindsave import progress
from blindsave.progress import Progress, redirect_progress


class Terminal(io.StringIO):
    """Says that it is one."""

    def isatty(self):
        return True


def test_without_a_terminal_the_end_is_said_once(capsys):
    with Progress("shots", 3) as bar:
        bar.advance()
        bar.advance(2, "all saved")
    captured = capsys.readouterr()
    assert captured.err == "shots: 3 of 3 all saved\n"
    assert captured.out == ""


def test_long_work_speaks_from_time_to_time(capsys, monkeypatch):
    monkeypatch.setattr(progress, "LINE_EVERY_S", -1.0)
    with Progress("shots", 2) as bar:
        bar.at(1)
    assert capsys.readouterr().err.splitlines() == ["shots: 1 of 2", "shots: 1 of 2"]


@pytest.mark.parametrize("quiet", [True, False])
def test_nothing_is_said_of_work_that_was_not_begun_or_is_quiet(capsys, quiet):
    with Progress("shots", 2, quiet=quiet) as bar:
        if quiet:
            bar.advance(2)
    assert capsys.readouterr().err == ""


def test_work_that_fails_leaves_the_last_word_to_the_error(capsys):
    with pytest.raises(ZeroDivisionError), Progress("shots", 2) as bar:
        bar.advance()
        raise ZeroDivisionError
    assert capsys.readouterr().err == ""


def test_a_listener_hears_everything_and_standard_error_nothing(capsys):
    heard = []
    with redirect_progress(lambda *told: heard.append(told)), Progress("shots", 5) as bar:
        bar.advance(2, "first")
        bar.advance()
        bar.at(5, "")
    assert heard == [(2, 5, "first"), (3, 5, "first"), (5, 5, "")]
    assert capsys.readouterr().err == ""


def test_listeners_nest_and_end_with_their_block_even_after_an_error():
    inner, outer = [], []
    with redirect_progress(lambda *told: outer.append(told)):
        with pytest.raises(KeyError), redirect_progress(lambda *told: inner.append(told)):
            Progress("a", 1).advance()
            raise KeyError
        Progress("b", 1).advance()
    assert len(inner) == len(outer) == 1
    assert progress._listener is None


def test_notes_are_said_at_once_even_by_the_quiet(capsys):
    with Progress("shots", 1, quiet=True) as bar:
        bar.note("a worker died")
    assert capsys.readouterr().err == "a worker died\n"


def test_a_terminal_gets_a_bar_with_title_and_note(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with Progress("shots", 4) as bar:
        bar.advance(4, "done [not markup]")
        bar.note("kept [line]")
    said = sys.stderr.getvalue()
    assert "shots" in said and "kept [line]" in said


def test_a_terminal_without_rich_gets_lines(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setitem(sys.modules, "rich.console", None)
    with Progress("shots", 1) as bar:
        bar.advance()
    assert sys.stderr.getvalue() == "shots: 1 of 1\n"
