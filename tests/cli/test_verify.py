"""The command that checks a study's evidence: one study or several, and what it says of them."""

import json

import pytest

from blindsave import store, verify
from blindsave.cli import execute
from blindsave.errors import BadInput
from blindsave.stages import joint
from blindsave.verify.findings import Failure, Verification


@pytest.fixture
def verified(monkeypatch):
    """Studies that verify, but for those called `bad`; and what was asked of them."""
    asked = {}

    def look(folder, replay=None):
        asked[folder.name] = replay
        failures = (Failure("ledger.jsonl", "line 2 was changed"),) if folder.name == "bad" else ()
        checked = {"tables": 2, "rows_played_again": 3} if replay else {"tables": 2}
        return Verification(str(folder), True, True, checked, failures, ("an old machine",))

    monkeypatch.setattr(verify, "verify", look)
    return asked


def teachers(folder, *names: str):
    store.write_json(folder / joint.PARSED, {"teachers": {name: name for name in names}})
    return str(folder)


def test_the_studies_of_a_study_file_are_verified_one_by_one_and_added_up(verified, tmp_path, capsys):
    execute(["verify", teachers(tmp_path, "a", "b"), "--replay", "3", "--seed", "7", "--json"])
    result = json.loads(capsys.readouterr().out)
    assert result["ok"] and result["checked"] == {"tables": 4, "rows_played_again": 6}
    assert result["notes"] == ["a: an old machine", "b: an old machine"]
    assert {(one.rows, one.seed) for one in verified.values()} == {(3, 7)}


def test_one_bad_study_of_several_is_named_and_the_status_is_1(verified, tmp_path, capsys):
    with pytest.raises(SystemExit) as stopped:
        execute(["verify", teachers(tmp_path, "good", "bad")])
    assert stopped.value.code == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "4 tables"
    assert lines[1] == "FAILED bad/ledger.jsonl: line 2 was changed"
    assert lines[-1] == f"{tmp_path}: does not verify"


def test_a_single_study_is_shown_as_it_is(verified, tmp_path, capsys):
    execute(["verify", str(tmp_path), "--all"])
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["2 tables, 3 rows played again", "note: an old machine", f"{tmp_path}: verified"]
    assert verified[tmp_path.name].rows is None  # every row


def test_without_a_folder_the_shipped_study_is_verified(verified, monkeypatch, tmp_path):
    monkeypatch.setattr("blindsave.verify.places.shipped", lambda: tmp_path / "shipped")
    execute(["verify", "--json"])
    assert list(verified) == ["shipped"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--replay", "0"], "--replay takes the number of rows to play, at least 1"),
        (["--replay", "-5"], "--replay must be at least 0, got -5"),
        (["--replay", "5", "--all"], "--replay takes the number of rows to play, at least 1"),
    ],
)
def test_rows_to_play_are_a_number_or_all(verified, words, said):
    with pytest.raises(BadInput, match=said):
        execute(["verify", *words])
    assert not verified
