"""Failures are played again and kept beside the results."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from blindsave.errors import BadInput
from blindsave.policies.scripted import INACTIVE, PRIVILEGED
from blindsave.report import record, replays
from blindsave.report.results import Results, read_results
from blindsave.task.shots import shots


def test_failures_are_recorded_from_tables_and_read_back(tmp_path):
    """Three scripted rules really play 225 shots; their failures are then found, played again and kept."""
    from blindsave.evidence import tables
    from blindsave.evidence.schedule import schedule
    from blindsave.policies.closed_loop import run

    members = shots("validation")[:6]
    plan = schedule("validation", (20,), members=members)
    parts = []
    for policy in (INACTIVE, PRIVILEGED):
        done = run(policy, plan.episodes())
        row = (done.labels, done.saved, done.steps, done.first_contact, done.reward)
        parts.append(tables.rows(policy.name, 0, plan.layout, *row))
    tables.write(tables.concatenate(parts), tmp_path / "validation.parquet")
    path = record.record_failures(read_results(tmp_path))
    again = read_results(tmp_path).replays
    assert again is not None and json.loads(path.read_text()) == again
    lanes = again["scenes"][0]["lanes"]
    assert [lane["policy"] for lane in lanes] == ["inactive", "privileged"]
    assert [lane["saved"] for lane in lanes] == [False, True]


def test_recording_without_a_test_is_refused(tmp_path):
    with pytest.raises(BadInput, match="no test table"):
        record.record_failures(read_results(tmp_path))


@pytest.fixture
def chosen(monkeypatch):
    """Which scenes would be played again, from which shots; nothing is played."""
    heard = {}

    def keep(scenes, load, known):
        heard.update(scenes=scenes, load=load, known=known)
        return {}

    monkeypatch.setattr(replays, "record", keep)
    monkeypatch.setattr(replays, "write", lambda document, path: path)
    return heard


def test_failures_are_those_of_the_principal_test_and_of_strong_noise(results: Results, chosen):
    path = record.record_failures(results, per_policy=1)
    assert path == results.root / "replays.json"
    assert {scene.split for scene in chosen["scenes"]} == {"principal_test", "noise_test"}
    assert {scene.disturbance for scene in chosen["scenes"] if scene.split == "noise_test"} == {"noise_5mm"}
    wanted = {lane.shot_id for scene in chosen["scenes"] for lane in scene.lanes}
    assert wanted <= chosen["known"].keys()
    assert chosen["load"] is record.shipped


def test_shots_of_the_sealed_test_follow_from_the_ledger(results: Results, chosen):
    from blindsave.evidence.release import sealed_shots

    sealed = replace(results, tables={"sealed_test": results.tables["sealed_test"]})
    record.record_failures(sealed, per_policy=1)
    assert chosen["known"].keys() == {shot.id for shot in sealed_shots(123456789)}
    with pytest.raises(BadInput, match="the shots of sealed_test are unknown: the ledger has no opening"):
        record.record_failures(replace(sealed, entries=()), per_policy=1)


def test_the_endpoint_is_that_of_the_plan(results: Results, chosen):
    plan = SimpleNamespace(blackout=10)
    record.record_failures(replace(results, plan=plan), per_policy=1)
    assert {scene.blackout for scene in chosen["scenes"]} == {10}


def test_a_shipped_policy_is_found_by_name_and_seed(monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(record, "load", lambda name: asked.append(name) or INACTIVE)
    record.shipped("gru_n64", 14303)
    record.shipped("teacher", 0)
    assert asked == ["gru_n64/14303", "teacher"]
