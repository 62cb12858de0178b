"""Rivals are policies like any other."""

import numpy as np
import pytest

from blindsave.deploy.c_header import export_c
from blindsave.deploy.toolchain import self_test_report
from blindsave.errors import BadInput
from blindsave.policies import load, native, resolve
from blindsave.policies.classical.costs import rival_costs
from blindsave.policies.classical.rivals import RIVALS, Rival, document, rival, settings, settings_from, true_planner
from blindsave.policies.closed_loop import run
from blindsave.store import json_text
from blindsave.task.conditions import condition
from blindsave.task.interface import shown
from blindsave.task.shots import shots

EPISODES = [condition("noise_5mm").episode(shot, 20) for shot in shots("train")[:6]]


@pytest.mark.parametrize("name", RIVALS)
def test_every_rival_plays_in_c_what_it_plays_in_numpy(name):
    policy = rival(name)
    result = run(policy, EPISODES, record=True)
    assert result.obs is not None and result.actions is not None
    for path in native.paths():
        forced = Rival(name, settings(name), path)
        for row, steps in enumerate(result.steps):
            carry, slow = policy.initial(1), policy.initial(1)
            for t in range(steps):
                seen = result.obs[row, t : t + 1]
                carry, action = forced.step(carry, seen)
                slow, expected = policy.program.run(slow, seen)
                assert np.array_equal(carry, slow) and np.array_equal(action, expected)
                assert np.array_equal(action[0], result.actions[row, t])
    assert np.isfinite(result.actions).all() and not shown(result.obs).all()


def test_the_planner_plays_in_c_what_it_plays_in_numpy():
    planner = true_planner()
    rng = np.random.default_rng(0)
    carry = slow = planner.initial(8)
    for _ in range(30):
        row = rng.uniform(-1, 1, (8, 23)).astype(np.float32)
        carry, action = planner.step(carry, row[:, :19], row[:, 19:])
        slow, expected = planner.told.program.run(slow, row)
        assert np.array_equal(carry, slow) and np.array_equal(action, expected)


@pytest.mark.parametrize("name", RIVALS)
def test_the_exported_header_agrees_in_every_bit(name, tmp_path):
    report = self_test_report(export_c(rival(name), tmp_path))
    assert report["passed"] is not False, report


def test_rivals_remember_what_was_seen_before_the_blackout():
    kalman = load("kalman")
    seen = run(load("inactive"), EPISODES[:1], record=True).obs
    assert seen is not None
    fresh = kalman.step(kalman.initial(1), seen[0, 6:7])[1]
    carry = kalman.initial(1)
    for row in seen[0, :6]:
        carry, _ = kalman.step(carry, row[None])
    assert not np.array_equal(kalman.step(carry, seen[0, 6:7])[1], fresh)


def test_what_a_rival_does_is_in_its_hash():
    found = resolve("kalman")
    assert (found.name, found.training_seed, found.file) == ("kalman", 0, None)
    other = {**document()["settings"]["kalman"], "push": 9.0}
    assert Rival("kalman", settings_from("kalman", other)).identity != found.policy.identity
    assert len({resolve(name).sha256 for name in (*RIVALS, "planner")}) == len(RIVALS) + 1


def test_the_planner_must_be_told_the_truth():
    planner = load("planner")
    with pytest.raises(BadInput, match="has to be told the truth"):
        planner.step(planner.initial(1), np.zeros((1, 19), np.float32))


def test_costs_are_counted_from_settings_and_program():
    found = rival_costs()
    assert list(found) == list(RIVALS)
    assert [row["carry_bytes"] for row in found.values()] == [48, 52, 56, 68, 92]
    assert all(row["parameters"] < 64 and row["macs"] < 3000 for row in found.values())
    assert rival_costs(["gru_n64", "kalman"]) == {"kalman": found["kalman"]}


def test_all_rivals_share_one_planner_and_the_record_says_how_it_was_chosen():
    assert len({json_text(document()["settings"][name]["planner"]) for name in (*RIVALS, "planner")}) == 1
    record = document()["record"]
    assert record["split"] == "train" and record["shots"] == 900
    for name in ("planner", "kalman", "kalman_gated"):
        best = max(record[name]["trials"], key=lambda trial: sum(trial["saves"]))
        chosen = document()["settings"][name]
        chosen = chosen["planner"] if name == "planner" else chosen
        assert {key: chosen[key] for key in best if key != "saves"} == {k: v for k, v in best.items() if k != "saves"}
