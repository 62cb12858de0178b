"""The commands of the seal, on a small study that a rule plays."""

import json

import pytest
from sealed_study import Study, load, play_by_rule

from blindsave.cli import execute
from blindsave.cli.seal import Release
from blindsave.errors import BlindsaveError
from blindsave.evidence import grid, release


@pytest.fixture
def study(tmp_path, monkeypatch) -> Study:
    """A prepared study in the current folder, whose policies are only files."""
    made = Study(tmp_path).prepare()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(grid, "grid", lambda work, policies, schedule, **_: play_by_rule(work, policies, schedule))
    opened = release.release
    monkeypatch.setattr(release, "release", lambda *places, play: opened(*places, load=load, play=play))
    return made


def run(capsys, *words: str) -> dict:
    execute([*words, "--json"])
    return json.loads(capsys.readouterr().out)


def test_a_study_is_frozen_then_released_once(study, capsys):
    frozen = run(capsys, "freeze")
    assert frozen["bound"]["checkpoints"] == 5 and frozen["code_files"] > 100
    assert json.loads(study.manifest.read_text())["freeze_sha256"] == frozen["freeze_sha256"]
    done = run(capsys, "release")
    assert set(done["save_rates"]) == {"principal_test", "sealed_test"}
    assert done["save_rates"]["sealed_test"]["teacher"]["20"]["shots"] == 225
    assert [entry.kind for entry in study.ledger.entries()] == ["freeze", "opening", "results"]
    with pytest.raises(BlindsaveError, match="cannot be opened again"):
        execute(["release"])
    Release().show(done)
    said = capsys.readouterr().out
    assert "sealed_test: saves in %" in said and done["results"]["sha256"] in said


def test_what_was_frozen_is_said_by_group(study, capsys):
    execute(["freeze"])
    said = capsys.readouterr().out
    assert said.startswith("frozen: ") and "5 checkpoints" in said and "the sealed test will be drawn from seed" in said


def test_a_changed_model_keeps_the_test_closed(study):
    execute(["freeze"])
    model = next((study.root / "models/students").rglob("*.safetensors"))
    model.write_text("another")
    with pytest.raises(BlindsaveError, match=model.name):
        execute(["release"])
    assert study.ledger.last("opening") is None


def test_nothing_is_released_that_was_not_frozen(study):
    with pytest.raises(BlindsaveError, match=r"freeze\.json"):
        execute(["release"])
    assert not study.ledger.path.exists()
