"""Freeze: the same content gives the same hash, everything is bound, what is missing is named."""

import pytest
from sealed_study import Study

from blindsave.errors import BadFile, BadInput
from blindsave.evidence.freeze import code_hashes, freeze, open_frozen, sealed_seed


@pytest.fixture
def study(tmp_path) -> Study:
    return Study(tmp_path / "study").prepare()


def test_freezing_the_same_content_gives_the_same_hash_wherever_it_lies(study, tmp_path):
    first = study.freeze()
    assert study.freeze().sha256 == first.sha256
    assert Study(tmp_path / "other").prepare().freeze().sha256 == first.sha256
    assert [entry.kind for entry in study.ledger.entries()] == ["freeze"]


def test_the_freeze_binds_everything(study):
    body = study.freeze().body
    assert set(body["groups"]) == {"checkpoints", "validation", "datasets", "efficiency"}
    assert len(body["groups"]["checkpoints"]) == len(body["policies"]) == 5
    assert list(body["code"]) == ["arena/scene.py"]


def test_the_sealed_seed_is_the_documented_function_of_the_hash():
    import hashlib

    text = b"blindsave.sealed_test.v1:" + b"ab" * 32
    assert sealed_seed("ab" * 32) == int(hashlib.sha256(text).hexdigest()[:16], 16)
    assert sealed_seed("ab" * 32) != sealed_seed("ac" * 32)


def test_a_freeze_without_what_the_plan_binds_is_refused(study):
    (study.root / "results/datasets/base/manifest.json").unlink()
    with pytest.raises(BadFile, match="'datasets', found 0"):
        study.freeze()
    (study.root / "models/students/gru_n64/14303.safetensors").unlink()
    with pytest.raises(BadFile, match=r"gru_n64/14303\.safetensors"):
        study.freeze()


@pytest.mark.parametrize("text", ["[]", "{}", '{"body": []}', '{"body": {"schema": "blindsave.freeze.v2"}}', "{"])
def test_a_file_that_is_no_freeze_is_refused_by_name(study, text):
    study.manifest.parent.mkdir(parents=True, exist_ok=True)
    study.manifest.write_text(text)
    with pytest.raises(BadFile, match=r"freeze\.json"):
        open_frozen(study.manifest, study.root, study.code)


def test_further_files_are_bound_on_request_and_replace_a_pattern_of_the_same_name(study):
    more = study.root / "results" / "notes.txt"
    more.write_text("bound by hand")
    frozen = freeze(
        study.plan, study.root, study.manifest, study.ledger, {"notes": [more], "efficiency": [more]}, study.code
    )
    name = "results/notes.txt"
    assert list(frozen.body["groups"]["notes"]) == list(frozen.body["groups"]["efficiency"]) == [name]
    more.write_text("changed")
    with pytest.raises(BadFile, match=r"notes\.txt was changed after the freeze"):
        open_frozen(study.manifest, study.root, study.code)


def test_a_file_outside_the_root_cannot_be_bound(study, tmp_path):
    outside = tmp_path / "outside.txt"
    outside.write_text("elsewhere")
    with pytest.raises(BadInput, match=r"outside\.txt cannot be bound: it lies outside"):
        freeze(study.plan, study.root, study.manifest, study.ledger, {"notes": [outside]}, study.code)
    assert study.ledger.last("freeze") is None


def test_a_changed_plan_gives_another_hash_and_another_line_in_the_ledger(study):
    first = study.freeze()
    path = study.root / "results/efficiency/latency.json"
    path.write_text("{ }")
    second = study.freeze()
    assert first.sha256 != second.sha256 and first.sealed_seed != second.sealed_seed
    entries = study.ledger.entries()
    assert [entry.content["freeze_sha256"] for entry in entries] == [first.sha256, second.sha256]


def test_the_frozen_study_knows_its_plan_and_its_checkpoints(study):
    frozen = study.freeze()
    assert frozen.plan.sha256 == study.plan.sha256
    assert frozen.policy_file("gru_n64", 14303).read_text() == "gru_n64 14303"
    with pytest.raises(KeyError):
        frozen.policy_file("gru_n64", 1)


def test_only_source_that_decides_is_hashed(study):
    (study.code / "task").mkdir()
    (study.code / "task" / "shots.py").write_text("")
    (study.code / "report").mkdir()
    (study.code / "report" / "page.py").write_text("")
    assert list(code_hashes(study.code)) == ["arena/scene.py", "task/shots.py"]
