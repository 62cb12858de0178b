"""Frozen files that are not shipped: named, counted and never played, or else a failure."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from sealed_study import Study

from blindsave import cli, store
from blindsave.evidence import tables
from blindsave.report import record, replays
from blindsave.report.build import build
from blindsave.report.results import read_results
from blindsave.verify import verify
from blindsave.verify.left_out import SCHEMA
from blindsave.verify.replay import Replay

LIST = "results/left_out.json"
ABSENT = ("models/students/gru_n64/14303.safetensors", "models/students/gru_n64/14304.safetensors")
WHY = "They are large."
NOTE = "2 of 8 frozen files are left out and named with their hashes in results/freeze.json: They are large"


def write(study: Study, files: object = ABSENT, why: object = WHY, **more: object) -> None:
    (study.root / LIST).write_text(json.dumps({"schema": SCHEMA, "files": files, "why": why} | more))


def drop(study: Study, *files: str) -> None:
    for name in files:
        (study.root / name).unlink()


@pytest.fixture
def light(study: Study) -> Study:
    """Two of five policies are not shipped, and the study says so."""
    drop(study, *ABSENT)
    write(study)
    return study


def test_files_left_out_are_counted_in_a_note_and_are_no_failure(light: Study):
    found = verify(light.root)
    assert found.failures == ()
    assert NOTE in found.notes
    assert (found.checked["checkpoints"], found.checked["left_out"]) == (3, 2)
    assert found.absent == {"gru_n64/14303", "gru_n64/14304"}
    assert "3 policies" in found.sentence and f"Note: {NOTE}." in found.sentence


def test_without_the_list_every_missing_file_is_a_failure(light: Study):
    drop(light, LIST)
    assert {(f.file, f.reason) for f in verify(light.root).failures} == {
        (name, "was frozen and is now missing") for name in ABSENT
    }


def test_a_manifest_of_a_dataset_can_be_left_out(study: Study):
    name = "results/datasets/base/manifest.json"
    drop(study, name)
    write(study, [name])
    assert verify(study.root).failures == ()


def listed_and_present(study: Study) -> None:
    write(study, [*ABSENT, "models/teacher/teacher.safetensors"])


def unknown_to_the_freeze(study: Study) -> None:
    write(study, [*ABSENT, "models/students/gru_n64/99999.safetensors"])


def another_way_to_write_it(study: Study) -> None:
    write(study, [ABSENT[0], "models/students/../students/gru_n64/14304.safetensors"])


def plan_left_out(study: Study) -> None:
    drop(study, "protocol.toml")
    write(study, [*ABSENT, "protocol.toml"])


def freeze_left_out(study: Study) -> None:
    drop(study, "results/freeze.json")
    write(study, [*ABSENT, "results/freeze.json"])


def ledger_left_out(study: Study) -> None:
    drop(study, "results/ledger.jsonl")
    write(study, [*ABSENT, "results/ledger.jsonl"])


def table_left_out(study: Study) -> None:
    drop(study, "results/test/sealed_test.parquet")
    write(study, [*ABSENT, "results/test/sealed_test.parquet"])


def shots_left_out(study: Study) -> None:
    drop(study, "results/test/sealed_test_shots.json")
    write(study, [*ABSENT, "results/test/sealed_test_shots.json"])


def validation_left_out(study: Study) -> None:
    drop(study, "results/validation/validation.parquet")
    write(study, [*ABSENT, "results/validation/validation.parquet"])


def dropped_and_not_listed(study: Study) -> None:
    drop(study, "models/students/structured_k0/14303.safetensors")


def garbage(study: Study) -> None:
    (study.root / LIST).write_text("garbage")


def another_schema(study: Study) -> None:
    write(study, schema="blindsave.left_out.v2")


def not_a_list(study: Study) -> None:
    write(study, ABSENT[0])


def nothing_listed(study: Study) -> None:
    write(study, [])


def listed_twice(study: Study) -> None:
    write(study, [*ABSENT, ABSENT[0]])


def without_a_reason(study: Study) -> None:
    write(study, why=" ")


def with_something_else(study: Study) -> None:
    write(study, hashes={})


FORGERIES: dict[Callable[[Study], None], tuple[str, str]] = {
    listed_and_present: ("models/teacher/teacher.safetensors", "but lies here"),
    unknown_to_the_freeze: ("models/students/gru_n64/99999.safetensors", "the freeze does not bind it"),
    another_way_to_write_it: ("models/students/../students/gru_n64/14304.safetensors", "the freeze does not bind it"),
    plan_left_out: ("protocol.toml", "may not be left out"),
    freeze_left_out: ("results/freeze.json", "may not be left out"),
    ledger_left_out: ("results/ledger.jsonl", "may not be left out"),
    table_left_out: ("results/test/sealed_test.parquet", "may not be left out"),
    shots_left_out: ("results/test/sealed_test_shots.json", "may not be left out"),
    validation_left_out: ("results/validation/validation.parquet", "may not be left out"),
    dropped_and_not_listed: ("models/students/structured_k0/14303.safetensors", "was frozen and is now missing"),
    garbage: (LIST, "not JSON"),
    another_schema: (LIST, "is not a list of schema blindsave.left_out.v1"),
    not_a_list: (LIST, "has to be a list"),
    nothing_listed: (LIST, "one at least"),
    listed_twice: (LIST, "names a file twice"),
    without_a_reason: (LIST, "has to be a sentence"),
    with_something_else: (LIST, "nothing else"),
}


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
def test_a_forgery_is_named(light: Study, forge: Callable[[Study], None]):
    file, reason = FORGERIES[forge]
    forge(light)
    found = verify(light.root)
    assert any(failure.file == file and reason in failure.reason for failure in found.failures), found.failures
    assert "Verified" not in found.sentence


def test_a_malformed_list_excuses_nothing(light: Study):
    garbage(light)
    found = verify(light.root)
    assert set(ABSENT) <= {failure.file for failure in found.failures} and found.absent == frozenset()


def test_a_changed_file_is_not_excused_by_the_list(light: Study):
    (light.root / ABSENT[0]).write_text("better")
    reasons = {failure.reason for failure in verify(light.root).failures if failure.file == ABSENT[0]}
    assert any("but lies here" in reason for reason in reasons) and "was changed after the freeze" in reasons


@pytest.mark.parametrize("rows", [200, None])
def test_rows_are_drawn_from_those_whose_policies_are_here_and_the_others_counted(
    light: Study, monkeypatch: pytest.MonkeyPatch, rows: int | None
):
    """What is played again is only looked at here: the study's models are no real ones."""
    played: list[tuple[str, int]] = []

    def compare(_file, named, rows, *_rest):
        assert named[0].is_file()
        played.extend((row["policy"], row["training_seed"]) for row in rows)

    monkeypatch.setattr("blindsave.verify.replay.from_file", lambda *named: named)
    monkeypatch.setattr("blindsave.verify.replay.compare", compare)
    found = verify(light.root, replay=Replay(rows))
    names = ("test/principal_test", "test/sealed_test", "noise/noise_test")
    players = [
        policy
        for name in names
        for policy in tables.read(light.root / "results" / f"{name}.parquet")["policy"].to_pylist()
    ]
    here = sum(policy in ("structured_k0", "teacher") for policy in players)
    assert found.failures == ()
    assert {policy for policy, _ in played} == {"structured_k0", "teacher"} and len(played) == (rows or here)
    left = f"{len(players) - here} of {len(players)} rows cannot be played again"
    assert f"{left}: the policies that played them are left out" in found.notes


def test_a_missing_policy_that_nobody_listed_is_not_skipped(study: Study):
    drop(study, *ABSENT)
    found = verify(study.root, replay=Replay(200))
    assert not any("cannot be played again" in note for note in found.notes)


def test_the_page_of_a_light_study_says_that_files_were_left_out(light: Study):
    made = build(light.root / "results", light.root / "results/report", 50)
    page = made.page.read_text(encoding="utf-8")
    assert made.to_dict()["ok"] and NOTE in page and "Verified for this page" in page
    assert {"gru_n64", "structured_k0"} <= made.analysis.results.costs.families.keys()
    assert verify(light.root).ok
    write(light, why="They were lost.")
    reasons = {f.file: f.reason for f in verify(light.root).failures}
    assert "the report was made of" in reasons[LIST]


def test_failures_to_show_are_those_of_policies_that_are_here(light: Study, monkeypatch: pytest.MonkeyPatch):
    chosen = []
    monkeypatch.setattr(replays, "record", lambda scenes, *_: chosen.extend(scenes) or {})
    monkeypatch.setattr(replays, "write", lambda _, path: path)
    record.record_failures(read_results(light.root / "results"))
    assert {lane.policy for scene in chosen for lane in scene.lanes} == {"structured_k0", "teacher"}


def test_the_command_shows_the_note(light: Study, capsys: pytest.CaptureFixture[str]):
    cli.execute(["verify", str(light.root)])
    said = capsys.readouterr().out
    assert f"note: {NOTE}" in said and "verified" in said


def test_a_further_study_keeps_its_list_beside_its_freeze(light: Study, tmp_path: Path):
    """results/many/one, models/many/one and a plan among the results, as studies lie in this repository."""
    results, models = (tmp_path / "repository" / top / "many" / "one" for top in ("results", "models"))
    for folder, source in ((results, "results"), (models, "models")):
        folder.parent.mkdir(parents=True)
        (light.root / source).rename(folder)
    (light.root / "protocol.toml").rename(results / "protocol.toml")
    found = verify(results)
    assert found.failures == () and NOTE in found.notes
    store.write_whole(results / "left_out.json", json.dumps({"schema": SCHEMA, "files": ["protocol.toml"], "why": WHY}))
    assert any(f.file == "protocol.toml" and "may not be" in f.reason for f in verify(results).failures)
