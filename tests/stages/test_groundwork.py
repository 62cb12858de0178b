"""Shots, teacher and memory tests: their tasks, and what stops a study before anything is learned."""

from dataclasses import replace

import pytest
import tiny_study

from blindsave import store
from blindsave.errors import BlindsaveError
from blindsave.stages import groundwork
from blindsave.stages.estimate import TEACHING
from blindsave.stages.scales import PAPER, SMOKE


def test_a_failed_audit_stops_the_study_before_it_is_written_down(tmp_path, monkeypatch):
    monkeypatch.setattr("blindsave.task.audit.audit", lambda: {"passed": False, "families": 90})
    with pytest.raises(BlindsaveError, match="the alias audit failed"):
        groundwork.make_splits(tiny_study.site(tmp_path))
    assert not list(tmp_path.rglob("*.json"))


def test_splits_are_bound_by_seed_and_launches(tmp_path, monkeypatch):
    monkeypatch.setattr("blindsave.task.audit.audit", lambda: {"passed": True, "families": 90})
    monkeypatch.setattr("blindsave.evidence.calibrate.calibrate", lambda: {"shots": 216})
    made = groundwork.make_splits(tiny_study.site(tmp_path))
    found = store.read_json(tmp_path / "results/splits.json")
    assert made.result == {"alias_families": 90, "splits": len(found["splits"])}
    assert {one["shots"] for one in found["splits"].values()} >= {216, 225}
    hashes = [one["launches_sha256"] for one in found["splits"].values()]
    assert len(set(hashes)) == len(hashes)
    assert found["calibration"] == {"shots": 216}


def test_a_teacher_is_copied_and_known_by_its_content(tmp_path):
    source = store.write_whole(tmp_path / "mine.safetensors", "a teacher")
    site = replace(tiny_study.site(tmp_path / "study"), teacher=source)
    made = groundwork.make_teacher(site)
    assert site.teacher_file.read_text() == "a teacher"
    assert made.result == {"sha256": store.sha256_file(source), "trained_here": False}
    assert groundwork.teacher_given(site) == store.sha256_file(source)


def test_a_missing_teacher_is_named(tmp_path):
    site = replace(tiny_study.site(tmp_path), teacher=tmp_path / "nobody")
    assert groundwork.teacher_given(site) is None
    with pytest.raises(BlindsaveError, match=f"there is no teacher {tmp_path / 'nobody'}"):
        groundwork.make_teacher(site)


def test_a_teacher_trained_here_is_not_given_and_wants_the_machine_for_itself(tmp_path):
    scale = replace(tiny_study.TINY, train_teacher=True, teacher_steps=500)
    site = replace(tiny_study.site(tmp_path), scale=scale)
    assert groundwork.teacher_given(site) is None
    (alone,), (copied,) = groundwork.teacher_tasks(scale), groundwork.teacher_tasks(tiny_study.TINY)
    assert alone.exclusive and alone.cost == {TEACHING: 500}
    assert not copied.exclusive and not copied.cost


def test_a_teacher_that_was_trained_is_not_trained_again(tmp_path):
    site = replace(tiny_study.site(tmp_path), scale=replace(tiny_study.TINY, train_teacher=True))
    store.write_whole(tmp_path / "teacher" / "teacher.safetensors", "frozen")
    assert groundwork.make_teacher(site).result["trained_here"]
    assert site.teacher_file.read_text() == "frozen"


@pytest.mark.parametrize(("scale", "shots"), [(PAPER, 225), (SMOKE, 30)])
def test_memory_tests_play_every_length_and_choose_on_validation_shots(scale, shots):
    tasks = {task.key: task for task in groundwork.memory_tasks(scale)}
    assert list(tasks)[-1] == "the chosen control"  # which waits for the others
    assert tasks["teacher_reset, test"].cost == {"teacher": 5 * shots}
    assert tasks["teacher, validation"].cost == {"teacher": shots}
    assert tasks["control 2"].cost == {"student": shots}
    assert sum(sum(task.cost.values()) for task in tasks.values()) == (5 + 5 + 1 + 3 + 5) * shots


def test_a_candidate_that_does_not_exist_is_no_work(tmp_path, monkeypatch):
    played = []
    monkeypatch.setattr(groundwork, "_candidates", lambda: ["one", "two"])
    monkeypatch.setattr(
        groundwork, "_memory_stage", lambda site: type("", (), {"play": lambda _, *a: played.append(a)})()
    )
    for number in range(groundwork.CANDIDATES):
        groundwork.play_candidate(tiny_study.site(tmp_path), number)
    assert [(who, split) for (who,), split, _ in played] == [("one", "validation"), ("two", "validation")]
