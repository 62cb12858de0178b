"""Stage records: what they say of a stage, and that changed or lost outputs do not pass for finished ones."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from blindsave import store
from blindsave.engine import Output
from blindsave.errors import BadFile, Damaged
from blindsave.stages.records import Records, content, state


@pytest.fixture
def records(tmp_path) -> Records:
    return Records(tmp_path)


def put(records: Records, name: str = "results/table", text: str = "rows") -> Path:
    return store.write_whole(records.folder / name, text)


def piece(records: Records, kind: str = "grid") -> Path:
    """An artifact with one file."""

    def build(folder: Path) -> None:
        (folder / "data.safetensors").write_text("whole")

    return store.make(records.folder / "work", kind, {"name": "piece"}, {}, build).folder


def refuse(damage: Damaged) -> None:
    raise damage


def test_a_finished_stage_is_verified_by_key_and_content(records):
    path = put(records)
    made = records.finish("base", "key", [Output((path,), result={"n": 1}), Output(result={"n": 2})], 1.234)
    assert made["files"] == {"results/table": store.sha256_file(path)}
    assert (made["results"], made["wall_s"]) == ([{"n": 1}, {"n": 2}], 1.23)
    found = records.verified("base", "key", refuse)
    assert found is not None and found["state"] == "done" and content(found) == content(made)
    assert records.verified("base", "another key", refuse) is None
    assert records.verified("finals", "key", refuse) is None


@pytest.mark.parametrize("begin", [lambda r: r.begin("base", "key"), lambda r: r.fail("base", "key", "why")])
def test_an_unfinished_stage_is_work_to_do(records, begin):
    begin(records)
    assert records.verified("base", "key", refuse) is None


def test_a_changed_or_lost_file_is_refused_by_name(records):
    path = put(records)
    records.finish("base", "key", [Output((path,))], 0)
    path.write_text("other rows")
    with pytest.raises(BadFile, match=f"{path} was changed after its stage had finished"):
        records.verified("base", "key", refuse)
    path.unlink()
    with pytest.raises(BadFile, match=f"{path} is missing: it was made by a finished stage"):
        records.verified("base", "key", refuse)


def test_a_damaged_artifact_is_mended_and_must_come_out_as_it_was(records):
    folder = piece(records)
    file = folder / "data.safetensors"
    output = Output((file,), (folder,))
    records.finish("base", "key", [output], 0)
    file.write_text("half")
    mended: list[Damaged] = []
    assert records.verified("base", "key", mended.append) is None
    assert [damage.piece for damage in mended] == [folder]
    assert state(records, "base")["state"] == "failed"
    records.begin("base", "key")
    with pytest.raises(BadFile, match=f"{file} was made again after damage and is not what it was"):
        records.finish("base", "key", [output], 0)
    file.write_text("whole")
    assert records.finish("base", "key", [output], 0)["state"] == "done"


def test_what_was_expected_of_one_key_is_not_asked_of_another(records):
    folder = piece(records)
    records.finish("base", "key", [Output((folder / "data.safetensors",), (folder,))], 0)
    (folder / "data.safetensors").write_text("half")
    assert records.verified("base", "key", lambda damage: None) is None
    path = put(records)
    assert records.finish("base", "new key", [Output((path,))], 0)["files"].keys() == {"results/table"}


def test_a_dataset_that_stayed_elsewhere_is_taken_at_its_manifests_word(records):
    for kind, damaged in (("dataset", 0), ("grid", 1)):
        folder = piece(records, kind)
        record = records.finish(kind, "key", [Output(artifacts=(folder,))], 0)
        (folder / "data.safetensors").unlink()
        assert len(records.damages(record)) == damaged


def test_files_outside_the_study_are_no_outputs(records, tmp_path_factory):
    elsewhere = store.write_whole(tmp_path_factory.mktemp("other") / "table", "rows")
    with pytest.raises(ValueError, match="is not in the subpath"):
        records.finish("base", "key", [Output((elsewhere,))], 0)
    assert records.read("base") is None


@pytest.mark.parametrize("text", ['{"schema": "another"}', "[1]"])
def test_a_foreign_record_is_refused(records, text):
    put(records, "stages/base.json", text)
    with pytest.raises(BadFile, match=r"base\.json is not a stage record of schema"):
        records.read("base")
    assert state(records, "base")["state"] == "damaged"


def test_states_say_how_a_stage_stands(records):
    assert state(records, "base") == {"stage": "base", "state": "missing"}
    records.begin("base", "key")
    assert state(records, "base") == {"stage": "base", "state": "running"}
    records.advance("base", "key", 2, 5, ["a"])
    assert state(records, "base")["tasks"] == {"done": 2, "of": 5, "running": ["a"]}
    records.fail("base", "key", "no room")
    assert state(records, "base") == {"stage": "base", "state": "failed", "reason": "no room"}
    path = put(records)
    records.finish("base", "key", [Output((path,))], 2.0)
    assert state(records, "base") == {"stage": "base", "state": "done", "wall_s": 2.0}
    path.unlink()
    found = state(records, "base")
    assert found["state"] == "damaged" and "table is missing" in found["reason"]


def test_a_stage_of_a_dead_process_is_interrupted(records):
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    records.begin("base", "key")
    found = json.loads(records.path("base").read_text())
    assert found["pid"] == os.getpid()
    records.path("base").write_text(json.dumps(found | {"pid": process.pid}))
    assert state(records, "base") == {"stage": "base", "state": "interrupted"}


def test_a_record_without_its_parts_is_damaged_not_a_crash(records):
    put(records, "stages/base.json", json.dumps({"schema": "blindsave.stage.v1", "state": "done"}))
    assert state(records, "base")["state"] == "damaged"
