import numpy as np
import pytest

from blindsave.arena import native
from blindsave.evidence.calibrate import calibrate, play
from blindsave.policies.scripted import PRIVILEGED, SCRIPTED
from blindsave.task.outcomes import Outcome
from blindsave.task.shots import shots


@pytest.fixture(scope="module")
def result():
    assert native.available(), "the tests insist on the compiled core"
    return calibrate()


def test_doing_nothing_concedes_and_knowing_everything_saves(result):
    assert result["shots"] == 216
    assert result["faults"] == 0
    assert result["inactive"]["conceded"] == 208
    assert result["fixed_centre"]["conceded"] == 208
    assert result["privileged"]["saved"] == 213


def test_every_shot_arrives_in_the_published_time(result):
    assert result["reached_approach_plane"] == 216
    assert result["approach_time_s"] == [0.40, 0.94]


def test_every_shot_is_counted_once(result):
    for rule in SCRIPTED:
        assert sum(result[rule]["outcomes"].values()) == 216


def test_two_plays_are_identical_and_without_the_lock_nothing_gets_through():
    members = shots("calibration")[:20]
    once, again = (play(PRIVILEGED, members) for _ in range(2))
    free = play(PRIVILEGED, members, locked_steps=0)
    assert once.outcomes == again.outcomes
    assert np.array_equal(once.approach_s, again.approach_s)
    assert all(outcome.saved for outcome in free.outcomes)


def test_the_reference_plays_alike():
    members = [shot for shot in shots("calibration") if shot.speed > 2.9][:2]
    fast, slow = (play(PRIVILEGED, members, backend=b) for b in ("native", "reference"))
    assert fast.outcomes == slow.outcomes
    assert all(isinstance(outcome, Outcome) for outcome in slow.outcomes)
