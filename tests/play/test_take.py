import json
from pathlib import Path

import numpy as np
import pytest

from blindsave.cli.render import Render
from blindsave.errors import BadInput
from blindsave.play.faults import faults
from blindsave.play.roster import Player, Roster
from blindsave.play.take import FIRST_PAIR, FIRST_SHOT, families, judged, shot_of, take
from blindsave.policies import closed_loop, load
from blindsave.policies.catalog import NamedPolicy
from blindsave.task.conditions import condition
from blindsave.task.outcomes import Outcome
from blindsave.task.shots import ALIAS_TARGETS, find

TWINS = [f"{FIRST_PAIR}:{target}" for target in ALIAS_TARGETS]
FAULTS = faults()
PAIR = ["structured_k0/14303", "feed_forward/14303"]


@pytest.fixture(scope="module")
def roster() -> Roster:
    return Roster()


def wish(shot=TWINS[0], goalkeepers=("privileged",), hidden=20, fault=0) -> dict:
    return {"shot": shot, "goalkeepers": list(goalkeepers), "hidden": hidden, "fault": fault}


@pytest.mark.parametrize("key", Roster().keys)
def test_every_goalkeeper_on_offer_ends_as_in_evaluate(key, roster):
    noisy = next(i for i, fault in enumerate(FAULTS) if fault.condition == condition("noise_5mm"))
    cases = [(shot, length, fault) for shot in TWINS for length, fault in ((0, 0), (20, 0), (10, noisy))]
    episodes = [FAULTS[fault].condition.episode(find(shot), length) for shot, length, fault in cases]
    expected = closed_loop.run(load(key), episodes)
    for k, (shot, length, fault) in enumerate(cases):
        (table,) = take(roster, FAULTS, wish(shot, [key], length, fault))["tables"]
        assert (table["outcome"], len(table["qpos"]) - 1) == (expected.labels[k], expected.steps[k])


def test_the_first_pair_shows_what_memory_is_for(roster):
    """On the first page and in the first film. Another main study may need another pair, or the other twin first."""
    twins = sorted(TWINS, key=lambda twin: twin != FIRST_SHOT)
    tables = [take(roster, FAULTS, wish(shot, PAIR))["tables"] for shot in twins]
    assert [one["verdict"] for one, _ in tables] == ["save", "save"]
    assert [other["verdict"] for _, other in tables] == ["goal", "save"]
    assert FIRST_PAIR in families() and twins[0] == FIRST_SHOT == Render((Path("film.gif"),)).shot
    assert (tables[0][0]["plain"], tables[0][0]["technical"]) == ("linear memory", PAIR[0])


def test_a_take_tells_what_was_seen_wanted_and_believed(roster):
    (table,) = take(roster, FAULTS, wish(goalkeepers=PAIR[:1], hidden=10))["tables"]
    assert table["visible"][:16] == 5 * [1] + 10 * [0] + [1]
    for t, visible in enumerate(table["visible"]):
        assert (table["seen"][t] is None) == (not visible)
        assert (table["believed"][t] is None) == bool(visible)
        assert (table["wanted"][t] is None) == (t <= 5), "the mallet is locked at first"
        if visible and table["qpos"][t][9] > -0.94:
            np.testing.assert_allclose(table["seen"][t], table["qpos"][t][9:11], atol=2e-4)
    json.dumps(table, allow_nan=False)


def test_a_fault_moves_what_is_seen_and_not_the_puck(roster):
    jitter = next(i for i, fault in enumerate(FAULTS) if fault.condition == condition("noise_20mm"))
    (table,) = take(roster, FAULTS, wish(goalkeepers=["fixed_centre"], hidden=0, fault=jitter))["tables"]
    offsets = [np.hypot(*np.subtract(s, q[9:11])) for s, q in zip(table["seen"], table["qpos"], strict=True)]
    assert 0.01 < np.mean(offsets) < 0.05


def test_any_condition_can_be_a_stop(roster):
    stops = faults(["puck_drag_3", "latency_2+noise_5mm"])
    assert take(roster, stops, wish(fault=len(FAULTS)))["fault"] == "puck_drag_3"
    (table,) = take(roster, stops, wish(fault=len(FAULTS) + 1))["tables"]
    json.dumps(table, allow_nan=False)


def test_a_shot_of_ones_own_can_be_wide_and_counts_for_nobody(roster):
    found = take(roster, FAULTS, wish([0.5, 0.0, 0.3, 2.0], ["inactive", "privileged"]))
    assert [table["verdict"] for table in found["tables"]] == ["nobody", "nobody"]
    assert {table["words"] for table in found["tables"]} == {"wide"}
    assert found["shot"]["id"].startswith("custom:")


@pytest.mark.parametrize("outcome", [one for one in Outcome if one != Outcome.RUNNING])
def test_every_outcome_has_plain_words(outcome):
    for shot in (find(TWINS[0]), shot_of([0.5, 0.0, 0.3, 2.0])):
        verdict, words = judged(outcome, shot)
        assert verdict in ("goal", "loose", "save", "nobody") and len(words) < 24 and "_" not in words
        assert (verdict == "goal") == (outcome == Outcome.GOAL_CONCEDED)
        if abs(shot.target_y) < 0.1 and not outcome.faulty:
            assert (verdict == "save") == outcome.saved
        elif verdict != "goal":
            assert verdict == "nobody", "what misses the goal is nobody's"


class Numb:
    """A policy whose second action after the lock is no number."""

    name = "numb"

    def initial(self, n):
        return np.zeros((n, 1), np.float32)

    def step(self, carry, obs):
        action = np.where(carry < 6, 0.0, np.nan).astype(np.float32)
        return carry + 1, np.repeat(action, 2, axis=1)


def test_an_action_that_is_no_number_is_a_failed_shot_and_still_json():
    roster = Roster()
    roster._known["inactive"] = Player("inactive", NamedPolicy("numb", 0, Numb(), ""))
    (table,) = take(roster, FAULTS, wish(goalkeepers=["inactive"]))["tables"]
    assert (table["outcome"], table["verdict"], table["words"]) == ("non_finite_state", "nobody", "failed")
    json.dumps(table, allow_nan=False)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"goalkeepers": []}, "one or 2 goalkeepers"),
        ({"goalkeepers": ["privileged"] * 3}, "one or 2 goalkeepers"),
        ({"goalkeepers": "privileged"}, "one or 2 goalkeepers"),
        ({"goalkeepers": ["/etc/passwd"]}, "no such goalkeeper"),
        ({"hidden": -1}, "`hidden` must be"),
        ({"hidden": True}, "`hidden` must be"),
        ({"hidden": 10**30}, "`hidden` must be"),
        ({"fault": len(FAULTS)}, "`fault` must be"),
        ({"fault": 0.0}, "`fault` must be"),
        ({"shot": "principal_test:alias:001:near_post_left"}, "the tests stay closed"),
        ({"shot": "x" * 10_000}, "not a shot id"),
        ({"shot": None}, "a shot is an id"),
        ({"shot": [1, 2, 3]}, "a shot is an id"),
        ({"shot": [0.5, 0.0, 0.0, 1e300]}, "a shot is an id"),
        ({"shot": [0.5, 0.0, 0.0, float("nan")]}, "a shot is an id"),
    ],
)
def test_what_cannot_be_played_is_said(change, told, roster):
    with pytest.raises(BadInput, match=told):
        take(roster, FAULTS, {**wish(), **change})


def test_the_dial_plays_the_memory_task(roster):
    held = {**wish(goalkeepers=["planner", "fixed_centre"], hidden=0), "hold": 5}
    found = take(roster, FAULTS, held)
    keeper, idler = found["tables"]
    assert "400 ms longer" in found["hold"]
    assert (keeper["verdict"], idler["verdict"]) == ("save", "goal")
    assert keeper["wanted"][25] is None and keeper["wanted"][26] is not None  # released after 5 + 20 steps
    assert not any(keeper["visible"][5:30])
    with pytest.raises(BadInput, match="`hold` must be a whole number"):
        take(roster, FAULTS, {**wish(), "hold": 6})
