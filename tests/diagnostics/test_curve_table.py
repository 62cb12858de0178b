"""Learning curves of a study in one file: nothing lost but the seconds, equal studies equal bytes."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from blindsave.diagnostics import curve_table
from blindsave.errors import BadFile, BadInput
from blindsave.learning.distil.history import History, read_lines

RESULTS = Path(__file__).parents[2] / "results"


def metrics(path: Path, seconds: float = 1.0, epochs: int = 7) -> Path:
    rng, history = np.random.default_rng(3), History.empty(3)
    for epoch in range(epochs):
        row = {name: rng.random(3).astype(np.float32) for name in curve_table.METRICS}
        if epoch > 4:
            row["train_loss"][1] = np.nan  # the second seed has stopped
        history = history.appended(row, seconds)
    path.write_text(history.lines((14305, 14303, 14304)))
    return path


def test_every_digit_is_kept_and_seconds_are_not(tmp_path):
    source, path = metrics(tmp_path / "a.jsonl"), tmp_path / "training" / "curves.parquet"
    curve_table.add(path, "finals", {"gru_n64": source})
    expected = [
        {name: row[name] for name in row if name != "epoch_seconds"}
        for row in sorted(read_lines(source), key=lambda row: (row["seed"], row["epoch"]))
    ]
    assert len(expected) == 19 and curve_table.read(path, "finals", "gru_n64") == expected


def test_the_order_of_writing_and_the_clock_leave_no_trace(tmp_path):
    quick, slow = metrics(tmp_path / "quick.jsonl", 0.5), metrics(tmp_path / "slow.jsonl", 40.0)
    one, other = tmp_path / "one.parquet", tmp_path / "other.parquet"
    curve_table.add(one, "collectors", {"a": quick, "b": quick})
    curve_table.add(one, "finals", {"a": quick})
    curve_table.add(other, "finals", {"a": slow})
    curve_table.add(other, "collectors", {"b": slow})
    curve_table.add(other, "collectors", {"b": slow, "a": slow})  # done again, after a crash
    assert one.read_bytes() == other.read_bytes()


def test_what_is_not_there_and_what_is_damaged_is_one_sentence(tmp_path):
    path = curve_table.add(tmp_path / "curves.parquet", "finals", {"gru_n64": metrics(tmp_path / "a.jsonl")})
    with pytest.raises(BadInput, match="has no finals of lru_n8; it has finals of gru_n64"):
        curve_table.read(path, "finals", "lru_n8")
    pq.write_table(pa.table({"x": [1]}), tmp_path / "x.parquet")
    with pytest.raises(BadFile, match="holds no learning curves"):
        curve_table.read(tmp_path / "x.parquet", "finals", "gru_n64")
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(BadFile, match="cannot be read as learning curves"):
        curve_table.add(path, "collectors", {})


@pytest.mark.parametrize("study", [".", "teachers/seed_7304", "teachers/seed_7305"])
def test_a_shipped_study_has_the_curves_of_all_its_trainings(study):
    path = RESULTS / study / curve_table.PLACE
    families = {
        name.partition("/")[0] for name in json.loads((RESULTS / study / "freeze.json").read_text())["body"]["policies"]
    }
    for stage in ("collectors", "finals"):
        for family in families - {"teacher"}:
            rows = curve_table.read(path, stage, family)
            assert {row["seed"] for row in rows} == set(range(14303, 14308))
            assert all(np.isfinite([row[name] for name in curve_table.METRICS]).all() for row in rows)
    assert path.stat().st_size < 100_000
