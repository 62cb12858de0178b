"""Freeze: the same content gives the same hash, everything is bound, what is missing is named."""

import pytest
from sealed_study import Study

from blindsave.errors import BadFile
from blindsave.evidence.freeze import sealed_seed


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
