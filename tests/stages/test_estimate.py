"""What a stage takes: counts from its tasks, times from rates."""

from dataclasses import replace

import pytest

from blindsave import study
from blindsave.engine import Output, Task
from blindsave.errors import BadInput
from blindsave.stages.estimate import RATES, TEACHING, core_seconds, duration, estimate, macs, total
from blindsave.stages.scales import PAPER


def nothing() -> Output:
    raise AssertionError("a plan runs nothing")


def task(**cost: float) -> Task:
    return Task("t", nothing, cost={name.replace("_of_", " "): amount for name, amount in cost.items()})


def test_cores_share_episodes_and_trainings_but_not_a_timed_call():
    playing, training, timed = [task(student=1000)], [task(train_of_structured_k0=1e6)] * 2, [task(latency=1000)]
    alone = estimate("s", playing, 1).seconds
    assert alone == pytest.approx(1000 * RATES["episode"])
    assert estimate("s", playing, 8).seconds == pytest.approx(alone / 8)
    alone = estimate("s", training, 1, seeds=5).seconds
    assert estimate("s", training, 4, seeds=5).seconds == pytest.approx(alone / 4)
    assert estimate("s", training, 64, seeds=5).seconds == pytest.approx(alone / 10)
    assert estimate("s", timed, 8).seconds == estimate("s", timed, 1).seconds == pytest.approx(0.1)
    assert estimate("s", [], 8).seconds == 0


def test_families_are_costed_by_their_multiplications():
    assert core_seconds("train gru_n16", 10) == 10 * RATES["mac"] * macs("gru_n16")
    assert core_seconds("train gru_n16", 1) < core_seconds("train gru_n64", 1)


def test_a_study_that_trains_its_teacher_plans_for_it():
    planned = {one.stage: one for one in study.plan(replace(PAPER, train_teacher=True), 8)}["teacher"]
    assert planned.core_s == pytest.approx(1e6 * RATES[TEACHING])
    assert planned.seconds == pytest.approx(planned.core_s / 2)
    assert (planned.episodes, planned.passes) == (0, 0)
    assert {one.stage: one for one in study.plan(PAPER)}["teacher"].core_s == 0


def test_every_unit_that_stages_name_has_a_rate():
    scale = replace(PAPER, train_teacher=True)
    units = {unit for stage in study.METHOD for one in stage.tasks(scale) for unit in one.cost}
    assert all(core_seconds(unit, 1) > 0 for unit in units)


def test_durations_are_readable():
    assert [duration(s) for s in (50, 720, 12_600, 36e5)] == ["50 s", "12 min", "3.5 h", "1,000 h"]


def test_durations_change_their_unit_where_the_next_one_reads_better():
    assert [duration(s) for s in (0, 89, 90, 5399, 5400, 359_999)] == [
        "0 s",
        "89 s",
        "2 min",
        "90 min",
        "1.5 h",
        "100.0 h",
    ]


def test_counts_are_kept_apart_by_unit():
    found = estimate("s", [task(student=10, latency=5), task(teacher=7, train_of_gru_n16=100)], 1)
    assert (found.stage, found.tasks, found.episodes, found.passes) == ("s", 2, 17, 100)
    assert found.core_s == pytest.approx(
        sum(core_seconds(u, n) for u, n in (("student", 17), ("latency", 5))) + core_seconds("train gru_n16", 100)
    )


def test_a_total_is_one_stage_after_the_other_as_often_as_asked():
    one, two = estimate("a", [task(student=10)], 2), estimate("b", [task(teacher=5)] * 3, 2)
    both = total([one, two], times=4)
    assert (both.stage, both.tasks, both.episodes) == ("all", 16, 100)
    assert both.seconds == pytest.approx(4 * (one.seconds + two.seconds))
    assert total([]).core_s == 0


def test_an_estimate_in_json_counts_cpu_hours():
    plain = estimate("s", [task(report=900)], 4).to_dict()
    assert plain["core_s"] == plain["seconds"] == 900 * RATES["report"]
    assert plain["cpu_hours"] == 2.0


def test_other_rates_change_times_and_no_counts():
    ours, theirs = (estimate("s", [task(student=10)], 1, rates=RATES | {"episode": rate}) for rate in (1.0, 3.0))
    assert (ours.seconds, theirs.seconds) == (10.0, 30.0)
    assert ours.episodes == theirs.episodes


def test_work_that_nobody_knows_is_not_costed_silently():
    with pytest.raises(BadInput, match="there is no family `hopfield`"):
        core_seconds("train hopfield", 1)
    with pytest.raises(KeyError, match="wind"):
        core_seconds("wind", 1)
