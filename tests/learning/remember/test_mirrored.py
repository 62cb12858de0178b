"""A test that fails for whoever copies: what a policy hears of its own requests is mirrored until the release."""

import numpy as np
import pytest

from blindsave.learning.remember.mirrored import hearing, misheard, play
from blindsave.policies.catalog import load_file, models_folder
from blindsave.policies.closed_loop import run
from blindsave.policies.students.student import Student
from blindsave.task.audit import families
from blindsave.task.controllers import HOME_M
from blindsave.task.interface import MALLET, PUCK, mallet_m, normalise_mallet, shown
from blindsave.task.outcomes import Outcome
from blindsave.task.remember import remembering

HOLD = 15
EPISODES = [remembering(HOLD).episode(shot) for pair in families("validation")[:6] for shot in pair]
ALL, NONE = np.ones(len(EPISODES), bool), np.zeros(len(EPISODES), bool)


class Keeper:
    """Sees the side of the first reading, then goes by what it requested before, or by a memory of its own."""

    def __init__(self, copies: bool) -> None:
        self.name, self.copies = "copier" if copies else "rememberer", copies

    def initial(self, n):  # last request (2), side seen (1)
        return np.zeros((n, 3), np.float32)

    def step(self, carry, obs):
        # twins come from the side away from their post, so the post is opposite to where they are seen first
        side = np.where(shown(obs) & (carry[:, 2] == 0), -np.sign(obs[:, PUCK][:, 1]), carry[:, 2])
        believed = np.where(carry[:, 1] == 0, side, np.sign(carry[:, 1])) if self.copies else side
        there = np.stack([np.full(len(obs), HOME_M[0]), 0.08 * believed], axis=1)
        action = normalise_mallet(there)
        return np.column_stack([action, side]).astype(np.float32), action

    def with_previous_action(self, carry, action):
        return np.column_stack([action, carry[:, 2:]]).astype(np.float32)


def kept_out(results) -> float:
    return float((results.outcome != Outcome.GOAL_CONCEDED).mean())


def test_a_copier_keeps_shots_out_until_its_requests_are_mirrored():
    straight, twisted = misheard(Keeper(copies=True), EPISODES)
    assert kept_out(straight) == 1.0
    assert kept_out(twisted) == 0.0


def test_who_remembers_does_not_care_what_it_hears_of_its_requests():
    straight, twisted = misheard(Keeper(copies=False), EPISODES)
    assert kept_out(straight) == 1.0
    np.testing.assert_array_equal(straight.outcome, twisted.outcome)
    np.testing.assert_array_equal(straight.obs, twisted.obs)  # what was requested of a held arm left no trace


def test_only_requests_before_the_release_are_mirrored_and_only_sideways():
    keeper = Keeper(copies=False)
    straight, twisted = play(keeper, EPISODES, NONE), play(keeper, EPISODES, ALL)
    release = EPISODES[0].locked_steps
    assert straight.actions is not None and twisted.actions is not None
    np.testing.assert_array_equal(twisted.actions[:, :release, 1], -straight.actions[:, :release, 1])
    np.testing.assert_array_equal(twisted.actions[:, :release, 0], straight.actions[:, :release, 0])
    np.testing.assert_array_equal(twisted.actions[:, release:], straight.actions[:, release:])


@pytest.mark.parametrize("name", ["structured_k0", "gru_n16", "finite_stack_10", "feed_forward"])
def test_without_mirroring_a_student_plays_as_it_always_does(name):
    student = Student.untrained(name, 14303)
    here, there = play(student, EPISODES[:4], NONE[:4]), run(student, EPISODES[:4], record=True)
    for field in ("outcome", "steps", "first_contact", "reward", "obs", "actions", "truth"):
        np.testing.assert_array_equal(getattr(here, field), getattr(there, field), err_msg=field)


def test_a_student_hears_the_request_it_is_told_of_and_keeps_its_memory():
    student = Student.untrained("gru_n16", 1)
    carry = np.arange(2 * 18, dtype=np.float32).reshape(2, 18)
    heard = hearing(student)(carry, np.full((2, 2), 9.0, np.float32))
    np.testing.assert_array_equal(heard[:, :16], carry[:, :16])
    assert (heard[:, 16:] == 9.0).all()
    window = Student.untrained("finite_stack_5", 1)
    np.testing.assert_array_equal(hearing(window)(carry, heard[:, :2]), carry)


def test_the_arm_rests_where_it_was_until_the_release():
    played = play(Keeper(copies=False), EPISODES[:2], ALL[:2])
    assert played.obs is not None
    places = mallet_m(played.obs[:, : EPISODES[0].locked_steps + 1, MALLET])
    across, along = np.ptp(places, axis=1)[:, 1], np.ptp(places, axis=1)[:, 0]
    assert across.max() < 1e-4
    assert along.max() < 0.01  # it sags a little, the same for everybody


def test_the_shipped_student_remembers_and_does_not_copy():
    """Fails for a student that repeats its previous request: it would keep out nothing the second time."""
    student = load_file(models_folder() / "remember" / "structured_k0" / "14303.safetensors")
    straight, twisted = misheard(student, EPISODES)
    assert kept_out(straight) >= 0.9
    assert kept_out(twisted) >= 0.9
