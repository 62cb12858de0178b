import json

import pytest

from blindsave.cli import execute
from blindsave.errors import BadInput


def test_tune_writes_the_settings_it_prints(tmp_path, capsys):
    out = tmp_path / "settings.json"
    execute(["rivals", "tune", "--every", "450", "--out", str(out), "--json"])
    printed = json.loads(capsys.readouterr().out)
    assert json.loads(out.read_text("utf-8")) == {key: printed[key] for key in ("settings", "record")}


def test_tune_refuses_no_shots(tmp_path):
    with pytest.raises(BadInput, match="every"):
        execute(["rivals", "tune", "--every", "0", "--out", str(tmp_path / "x.json")])


def test_families_lists_rivals_beside_students(capsys):
    execute(["families", "kalman", "structured_k0", "--json"])
    printed = json.loads(capsys.readouterr().out)
    assert list(printed["families"]) == ["structured_k0"] and list(printed["rivals"]) == ["kalman"]
