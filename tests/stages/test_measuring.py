"""Measuring the finals: what is played, what is counted, and which times are bound."""

from dataclasses import replace

import pytest
import tiny_study

from blindsave import store
from blindsave.stages import measuring
from blindsave.stages.scales import PAPER, QUICK


@pytest.mark.parametrize(("labelled", "unit"), [(True, "shadow"), (False, "student")])
def test_every_player_meets_the_same_validation_shots(labelled, unit):
    tasks = measuring.validation_tasks(replace(PAPER, label_validation=labelled))
    assert len(tasks) == 36 and tasks[-1].key == "teacher/0"
    assert {tuple(task.cost.items()) for task in tasks[:-1]} == {((unit, 225 * 5),)}
    assert tasks[-1].cost == {"teacher": 225 * 5}


def test_timed_calls_are_counted_with_those_that_warm_up():
    (task,) = measuring.efficiency(QUICK)
    assert task.cost == {"latency": 4 * 2 * 1000 * (5 + 1)}


@pytest.fixture
def timed(monkeypatch):
    """Counts how often the clock runs."""
    calls = []

    def latency(site):
        calls.append(site)
        return {"families": {}, "measurement": len(calls)}

    monkeypatch.setattr(measuring, "latency", latency)
    return calls


def test_sizes_are_bound_everywhere_and_times_only_with_the_published_test(tmp_path, timed):
    site = tiny_study.site(tmp_path)
    names = [path.name for path in measuring.make_efficiency(site).files]
    assert names == ["accounting.json"]
    opening = replace(site, scale=replace(site.scale, test_splits=("principal_test",)))
    names = [path.name for path in measuring.make_efficiency(opening).files]
    assert names == ["accounting.json", "latency.json"]
    sizes = store.read_json(site.results / "efficiency/accounting.json")["families"]
    assert sizes.keys() == {"feed_forward"} and sizes["feed_forward"]["parameters"] > 0


def test_a_time_once_measured_stays(tmp_path, timed):
    site = tiny_study.site(tmp_path)
    for _ in range(2):
        measuring.make_efficiency(site)
    assert len(timed) == 1
    assert store.read_json(site.results / "efficiency/latency.json")["measurement"] == 1


def test_latency_is_measured_by_family_and_seed(tmp_path, monkeypatch):
    from blindsave.bench import latency as clock
    from blindsave.policies.students.student import Student

    asked = []
    monkeypatch.setattr(
        clock, "measure", lambda student, protocol: asked.append(protocol) or {"python": {"median": len(asked)}}
    )
    monkeypatch.setattr(clock, "summarise", lambda per_seed: {"python_us": len(per_seed)})

    site = replace(tiny_study.site(tmp_path), scale=replace(tiny_study.TINY, training_seeds=(3, 4)))
    for seed in (3, 4):
        Student.untrained("feed_forward", seed).save(site.student_file("feed_forward", seed))
    found = measuring.latency(site)
    assert found["families"] == {"feed_forward": {"python_us": 2, "python_us_by_seed": {"3": 1, "4": 2}}}
    assert {(protocol.calls, protocol.blocks) for protocol in asked} == {(10, 1)}
    assert found["protocol"] == vars(asked[0])
    assert found["machine"]["cores"] >= 1
