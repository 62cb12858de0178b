from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import synthetic_results

from blindsave.errors import BadFile, BadInput
from blindsave.evidence import tables
from blindsave.report.results import Results, read_results


def test_a_complete_folder_lacks_nothing(results: Results):
    assert results.missing == ()
    assert set(results.tables) == {"principal_test", "sealed_test", "validation", "noise_test"}
    assert set(results.memory) == {"state_reset", "memoryless"}
    assert results.costs.timed and results.costs.families["structured_k0"].parameters == 12002
    assert [entry.kind for entry in results.entries] == ["freeze", "opening", "results"]


def test_an_empty_folder_is_read_and_everything_missing_is_named(tmp_path: Path):
    empty = read_results(tmp_path)
    assert not empty.tables
    said = " ".join(empty.missing)
    for part in ("principal", "sealed", "noise", "memory", "validation", "latency", "plan", "ledger", "replays.json"):
        assert part in said


def test_a_folder_that_does_not_exist_is_refused(tmp_path: Path):
    with pytest.raises(BadInput, match="nowhere"):
        read_results(tmp_path / "nowhere")


def test_files_of_one_split_in_one_folder_are_joined(tmp_path: Path):
    whole = synthetic_results.principal_like("validation", 3, (0, 20), ("feed_forward", "teacher"))
    policy = whole["policy"].to_numpy(zero_copy_only=False)
    for name in ("feed_forward", "teacher"):
        tables.write(whole.filter(pa.array(policy == name)), tmp_path / "validation" / f"{name}.parquet")
    assert read_results(tmp_path).tables["validation"].equals(whole)


def test_tables_about_training_are_left_alone(tmp_path: Path):
    (tmp_path / "teacher").mkdir()
    pq.write_table(pa.table({"step": [1], "loss": [0.5]}), tmp_path / "curve.parquet")
    pq.write_table(pa.table({"step": [1], "loss": [0.5]}), tmp_path / "teacher" / "curve.parquet")
    assert not read_results(tmp_path).tables


def test_a_table_with_a_missing_row_is_refused_with_its_key(folder: Path, tmp_path: Path):
    table = pq.read_table(folder / "noise" / "noise_test.parquet")
    pq.write_table(table.slice(1), tmp_path / "noise_test.parquet")
    with pytest.raises(BadFile, match=r"noise_test\.parquet.*policy=gru_n64"):
        read_results(tmp_path)


def test_a_damaged_table_and_a_damaged_ledger_are_refused(folder: Path, tmp_path: Path):
    (tmp_path / "principal_test.parquet").write_bytes(b"not parquet")
    with pytest.raises(BadFile, match=r"principal_test\.parquet"):
        read_results(tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    text = (folder / "ledger.jsonl").read_text().replace("123456789", "123456780")
    (other / "ledger.jsonl").write_text(text)
    with pytest.raises(BadFile, match="line 2"):
        read_results(other)


def test_a_replay_file_with_a_cut_path_is_refused(folder: Path, tmp_path: Path):
    import json

    document = json.loads((folder / "replays.json").read_text())
    document["scenes"][0]["lanes"][0]["puck_x"].pop()
    (tmp_path / "replays.json").write_text(json.dumps(document))
    with pytest.raises(BadFile, match="incomplete"):
        read_results(tmp_path)


def test_a_test_that_the_plan_leaves_out_is_not_missing(results: Results):
    from blindsave.report.results import _missing

    assert results.plan is not None
    small = replace(results.plan, grids={name: results.plan.grids[name] for name in ("validation", "sealed_test")})
    named = dict.fromkeys(("plan", "ledger", "replays"), Path("there"))
    said = [_missing({}, results.memory, plan, named, results.costs) for plan in (None, results.plan, small)]
    assert said[0] == said[1] and "principal test" in said[0][0] and len(said[0]) == 4
    assert [words.partition(" (")[0] for words in said[2]] == ["the sealed test", "the validation grid"]
