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


def test_figure_draws_a_table_of_several_noise_levels(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    from synthetic_tables import shot_rows, table

    from blindsave.evidence import tables

    rows = table(
        {"kalman": (0,), "teacher": (0,)}, lambda *_: True, (20,), ("clean", "noise_5mm"), shot_rows(4, (1, 1, 1, 1))
    )
    path = tables.write(rows, tmp_path / "rows.parquet")
    execute(["rivals", "figure", str(path), "--out", str(tmp_path / "drawn"), "--json"])
    files = json.loads(capsys.readouterr().out)["files"]
    assert len(files) == 4 and (tmp_path / "drawn" / "rivals.svg").read_text("utf-8").startswith("<?xml")
