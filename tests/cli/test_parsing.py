"""Help a newcomer can read, and one sentence for a mistake."""

import importlib
import re

import pytest

from blindsave import cli
from blindsave.cli.parsing import parse
from blindsave.errors import BadInput


def test_the_overview_groups_every_command_and_fits_80_columns():
    text = cli.overview()
    assert list(cli.GROUPS) == ["try", "study", "evaluate", "compare", "train", "deploy", "measure"]
    assert max(map(len, text.splitlines())) <= 80
    assert all(re.search(rf"^  {name} +\S", text, re.MULTILINE) for name in cli.COMMANDS)
    assert len(cli.COMMANDS) == sum(map(len, cli.GROUPS.values()))


@pytest.mark.parametrize("name", list(cli.COMMANDS))
def test_help_lists_json_and_leaks_no_python(name, capsys):
    module, _, kind = cli.COMMANDS[name].path.partition(":")
    with pytest.raises(SystemExit) as stopped:
        parse(getattr(importlib.import_module(module), kind), name, ["--help"])
    text = capsys.readouterr().out
    assert stopped.value.code == 0 and "--json" in text
    for leak in ("None", "STR", "(default: )", "INT", "FLOAT", "TUPLE"):
        assert not re.search(rf"(?<!\w){re.escape(leak)}(?!\w)", text), leak


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["bench", "sim", "--rounds", "x"], "--rounds must be a whole number, got 'x'"),
        (["bench", "sim", "--rounds", "-1"], "--rounds must be at least 1, got -1"),
        (["bench", "sim", "--threads", "100000"], "--threads must be at most 4,096, got 100000"),
        (["bench", "latency", "--seeds", "1", "1.5"], "--seeds must be a whole number, got '1.5'"),
        (["play", "--seconds", "inf"], "--seconds must be a finite number, got 'inf'"),
        (["render"], "--out PATH ... is missing"),
        (["render", "--out", "x.png", "--nope", "3"], "Unrecognized options: --nope"),
        (["render", "--out", "x.png", "--view", "side"], "invalid choice 'side' for argument '--view'"),
    ],
)
def test_a_mistake_is_named_with_its_option(words, sentence):
    with pytest.raises(BadInput, match=re.escape(sentence)):
        cli.execute(words)


def test_json_may_stand_anywhere(capsys):
    cli.execute(["shots", "--json", "--split", "validation"])
    before = capsys.readouterr().out
    cli.execute(["shots", "--split", "validation", "--json"])
    assert capsys.readouterr().out == before and before.startswith('{"split"')
