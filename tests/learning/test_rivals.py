"""How the rivals' settings come to be."""

import pytest

from blindsave.learning import rivals
from blindsave.policies.classical.rivals import document
from blindsave.task.shots import shots

TRAIN = shots("train")


def test_the_shipped_kinds_and_speeds_are_those_of_the_train_shots():
    shipped = document()["settings"]["bayes"]
    assert shipped["kinds"] == rivals.kinds_of(TRAIN)
    assert {key: shipped["kalman"][key] for key in ("speed", "speed_spread")} == rivals.speed_of(TRAIN)


def test_kinds_are_all_shots_and_a_little_of_anything():
    kinds = rivals.kinds_of(TRAIN)
    assert sum(kind["share"] for kind in kinds) == pytest.approx(1, abs=1e-4)
    assert len(kinds) == 7 and kinds[-1]["slope_spread"] > 10 * kinds[0]["slope_spread"]


def test_held_shots_are_slower_and_the_arm_is_held_longer():
    shot = TRAIN[0]
    episode = rivals.held(shot)
    assert episode.locked_steps == 25
    assert episode.shot.vx == pytest.approx(shot.vx * 2 / 3) and episode.shot.y == shot.y


def test_the_first_of_the_best_wins():
    trials = [rivals.Trial({"a": 1}, (3, 4)), rivals.Trial({"a": 2}, (4, 4)), rivals.Trial({"a": 3}, (4, 4))]
    assert rivals._winner(trials) == {"a": 2}
    assert rivals._told(trials, "a")[0] == {"a": 1, "saves": [3, 4]}


def test_a_quick_look_gives_settings_of_every_rival_and_says_what_was_tried():
    said = []
    found = rivals.tune(said.append, every=300)
    assert found["settings"].keys() == document()["settings"].keys()
    assert found["record"]["shots"] == 3
    assert len(found["record"]["kalman"]["trials"]) == len(rivals.PUSHES)
    assert [line.split(":")[0] for line in said] == ["arm", "planner", "kalman", "kalman_gated"]
