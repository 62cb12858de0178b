"""Freeze, release and noise: their tasks, and what stays closed."""

from dataclasses import replace

import pytest
import tiny_study

from blindsave.errors import BadFile, BadInput
from blindsave.stages import sealing
from blindsave.stages.scales import PAPER, QUICK, SMOKE


def test_every_player_meets_every_test():
    tasks = sealing.release_tasks(PAPER)
    assert len(tasks) == 2 * 36 == len({task.key for task in tasks})
    assert {task.arguments["split"] for task in tasks} == {"principal_test", "sealed_test"}
    assert all(sum(task.cost.values()) == 225 * 6 for task in tasks)
    assert {task.arguments["split"] for task in sealing.release_tasks(QUICK)} == {"sealed_test"}


def test_noise_is_for_those_who_are_named_and_take_part():
    tasks = sealing.noise_tasks(PAPER)
    assert {task.arguments["policy"] for task in tasks} == set(PAPER.noise_policies)
    assert len(tasks) == 3 * 5 + 1
    assert tasks[0].cost == {"student": 225 * 2 * 3} and tasks[-1].cost == {"teacher": 225 * 2 * 3}
    assert [task.key for task in sealing.noise_tasks(SMOKE)] == ["structured_k0/14303"]


@pytest.mark.parametrize("change", [{"conditions": ()}, {"noise_policies": ()}, {"noise_blackouts": ()}])
def test_a_study_without_noise_has_nothing_to_play(tmp_path, change):
    scale = replace(SMOKE, **change)
    assert sealing.noise_tasks(scale) == []
    assert sealing.noise(replace(tiny_study.site(tmp_path), scale=scale), lambda tasks: pytest.fail("played")) == []


def test_nobody_plays_a_closed_test(tmp_path):
    site = tiny_study.site(tmp_path)
    with pytest.raises(BadInput, match=r"the test is closed: .*ledger\.jsonl knows of no opening"):
        sealing.play_test(site, "teacher", 0, "sealed_test")
    site.ledger.append("freeze", {})
    with pytest.raises(BadInput, match="the test is closed"):
        sealing.play_test(site, "teacher", 0, "sealed_test")


def test_an_unfinished_study_is_not_frozen(tmp_path):
    with pytest.raises(BadFile, match=r"feed_forward/14303\.safetensors"):
        sealing.make_freeze(tiny_study.site(tmp_path))
    assert not tiny_study.site(tmp_path).manifest.exists()


def test_noise_waits_for_the_freeze(tmp_path):
    site = replace(tiny_study.site(tmp_path), scale=SMOKE)
    with pytest.raises(BadFile, match=r"freeze\.json"):
        sealing.noise(site, lambda tasks: pytest.fail("played"))
