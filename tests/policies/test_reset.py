"""Forgetting on purpose: once, at the moment the puck disappears, and never without a blackout."""

import numpy as np
import pytest

from blindsave.policies.closed_loop import run
from blindsave.policies.reset import ResetAt
from blindsave.policies.students.student import Student
from blindsave.task.episode import Episode
from blindsave.task.shots import shots
from blindsave.task.tracking import blackout


class Counter:
    """Counts its own steps from an unusual fresh carry, and acts on the count."""

    name = "counter/7"

    def initial(self, n):
        return np.full((n, 2), 100, np.float32)

    def step(self, carry, observation):
        return carry + np.float32(1), carry / np.float32(1000)


def seen(policy, visibility):
    """The counts the policy acts on, for rows of visibility flags over time (rows, steps)."""
    rows, steps = np.shape(visibility)
    carry, found = policy.initial(rows), []
    for t in range(steps):
        obs = np.zeros((rows, 19), np.float32)
        obs[:, 18] = np.asarray(visibility)[:, t]
        carry, action = policy.step(carry, obs)
        found.append(np.rint(action[:, 0] * 1000))
    return np.array(found).T


def test_the_whole_carry_becomes_fresh_before_the_first_hidden_observation():
    counts = seen(ResetAt(Counter()), [[1, 1, 1, 1, 1, 0, 0, 0, 1, 1]])
    assert counts[0].tolist() == [100, 101, 102, 103, 104, 100, 101, 102, 103, 104]


def test_without_a_blackout_nothing_is_touched():
    assert seen(ResetAt(Counter()), [[1] * 10])[0].tolist() == [*range(100, 110)]


def test_a_later_blackout_is_not_the_moment():
    assert seen(ResetAt(Counter()), [[1] * 6 + [0] * 4])[0].tolist() == [*range(100, 110)]


def test_rows_forget_each_for_itself():
    visibility = [[1] * 8, [1] * 5 + [0] * 3, [1] * 8]
    assert seen(ResetAt(Counter()), visibility)[:, 5].tolist() == [105, 100, 105]


def test_another_moment_can_be_chosen():
    assert seen(ResetAt(Counter(), step=2), [[1, 1, 0, 0]])[0].tolist() == [100, 101, 100, 101]


def test_the_arguments_are_not_changed_and_the_name_tells():
    policy = ResetAt(Counter())
    carry = policy.initial(2)
    before = carry.copy()
    policy.step(carry, np.zeros((2, 19), np.float32))
    assert carry.tobytes() == before.tobytes()
    assert policy.name == "counter_reset/7"


@pytest.fixture(scope="module")
def student():
    return Student.untrained("gru_n64", 14303)


def play(policy, length):
    episodes = [Episode(shot, blackout(length)) for shot in shots("test")[:3]]
    return run(policy, episodes, threads=1, record=True)


def test_visible_episodes_are_those_of_the_policy_bit_for_bit(student):
    normal, reset = play(student, 0), play(ResetAt(student), 0)
    for name in ("outcome", "steps", "first_contact", "reward", "obs", "actions", "truth"):
        assert getattr(normal, name).tobytes() == getattr(reset, name).tobytes()


def test_a_hidden_episode_parts_at_observation_five_and_continues_as_a_fresh_policy(student):
    normal, reset = play(student, 20), play(ResetAt(student), 20)
    assert normal.actions[:, :5].tobytes() == reset.actions[:, :5].tobytes()
    assert normal.obs[:, :6].tobytes() == reset.obs[:, :6].tobytes()
    carry = student.initial(3)
    for t in range(5, 9):
        carry, fresh = student.step(carry, reset.obs[:, t])
        assert fresh.tobytes() == reset.actions[:, t].tobytes()
    assert not (normal.actions[:, 5] == reset.actions[:, 5]).any()
