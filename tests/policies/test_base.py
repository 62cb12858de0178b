"""The policy contract: everything in the catalogue keeps it, and the closed loop needs nothing more."""

import numpy as np
import pytest

from blindsave.policies import closed_loop
from blindsave.policies.base import ACTION_FLOATS, OBSERVATION_FLOATS, Policy
from blindsave.policies.catalog import resolve
from blindsave.policies.scripted import FIXED_CENTRE, INACTIVE
from blindsave.policies.students.student import Student
from blindsave.task.conditions import grid
from blindsave.task.shots import shots


@pytest.mark.parametrize("name", ["inactive", "fixed_centre", "teacher", "gru_n64/14303"])
def test_what_the_catalogue_holds_keeps_the_contract(name):
    policy = resolve(name).policy
    assert isinstance(policy, Policy)
    carry = policy.initial(3)
    new, action = policy.step(carry, np.zeros((3, OBSERVATION_FLOATS), np.float32))
    assert new.shape == carry.shape and len(carry) == 3
    assert action.shape == (3, ACTION_FLOATS) and np.abs(action).max() <= 1


@pytest.mark.parametrize("missing", ["name", "initial", "step"])
def test_a_thing_without_one_of_the_three_is_no_policy(missing):
    members = {"name": "mine", "initial": lambda self, n: None, "step": lambda self, carry, seen: None}
    assert isinstance(type("Whole", (), members)(), Policy)
    del members[missing]
    assert not isinstance(type("Part", (), members)(), Policy)


def test_a_policy_of_three_lines_plays():
    class Still:
        name = "still"

        def initial(self, n):
            return np.zeros((n, 0), np.float32)

        def step(self, carry, observation):
            return carry, INACTIVE.step(INACTIVE.initial(len(observation)), observation)[1]

    episodes = grid(shots("calibration")[:4], [0])
    mine, built_in = closed_loop.run(Still(), episodes), closed_loop.run(INACTIVE, episodes)
    assert mine.labels == built_in.labels
    assert mine.steps.tolist() == built_in.steps.tolist()


def test_rows_of_a_batch_do_not_influence_each_other():
    for policy in (FIXED_CENTRE, Student.untrained("structured_k2", 1)):
        seen = np.random.default_rng(0).uniform(-1, 1, (5, OBSERVATION_FLOATS)).astype(np.float32)
        together = policy.step(policy.initial(5), seen)[1]
        alone = [policy.step(policy.initial(1), row[None])[1][0] for row in seen]
        np.testing.assert_array_equal(together, alone)
