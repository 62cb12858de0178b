from dataclasses import replace

import pytest
import synthetic_results

from blindsave.errors import BadInput
from blindsave.policies.scripted import FIXED_CENTRE
from blindsave.report import replays
from blindsave.report.results import Results
from blindsave.task.shots import shots

MEMBERS = {shot.id: shot for shot in shots("calibration")}
ALIAS = next(name for name in MEMBERS if ":alias:000" in name)


def scene(outcome: str = "goal_conceded") -> replays.Scene:
    return replays.Scene("t", "calibration", 20, "clean", (replays.Lane("fixed_centre", 0, ALIAS, outcome),))


def test_a_failure_is_shown_beside_a_save_of_the_same_shot(results: Results):
    scenes = replays.choose(results.tables["principal_test"], 20)
    assert {s.lanes[0].policy for s in scenes} >= {"feed_forward", "structured_k0", "gru_n64", "teacher"}
    for one in scenes:
        failed, *others = one.lanes
        assert failed.outcome not in ("returned", "arrested", "safe_deflection")
        assert all(o.shot_id == failed.shot_id and o.outcome in ("returned", "arrested") for o in others)
    feed_forward = [s.lanes[0].outcome for s in scenes if s.lanes[0].policy == "feed_forward"]
    assert set(feed_forward) == {"goal_conceded", "timeout_after_contact"}


def test_choosing_is_deterministic(results: Results):
    table = results.tables["noise_test"]
    assert replays.choose(table, 20, 1, "noise_5mm") == replays.choose(table, 20, 1, "noise_5mm")


def test_recorded_paths_start_at_the_launch_and_end_in_the_goal():
    lane = replays.record([scene()], lambda *_: FIXED_CENTRE, MEMBERS)["scenes"][0]["lanes"][0]
    shot = MEMBERS[ALIAS]
    assert (lane["puck_x"][0], lane["puck_y"][0]) == (round(1000 * shot.x), round(1000 * shot.y))
    assert lane["puck_x"][-1] < -970 and abs(lane["puck_y"][-1]) < 126
    assert abs(lane["mallet_x"][0] + 860) <= 1 and lane["mallet_y"][0] == 0
    assert len(lane["puck_x"]) == lane["steps"] + 1


def test_a_replay_that_ends_otherwise_than_its_table_is_refused():
    with pytest.raises(BadInput, match="the table says returned"):
        replays.record([scene("returned")], lambda *_: FIXED_CENTRE, MEMBERS)


def test_an_unknown_shot_is_refused():
    lane = replays.Lane("fixed_centre", 0, "nobody:alias:000:x", "returned")
    with pytest.raises(BadInput, match="nobody"):
        replays.record([replace(scene(), lanes=(lane,))], lambda *_: FIXED_CENTRE, MEMBERS)


def test_the_synthetic_replays_are_real_episodes():
    first = synthetic_results.replay_document(1)["scenes"][0]["lanes"]
    assert [lane["outcome"] for lane in first] == ["goal_conceded", "returned"]
