import numpy as np
import pytest

from blindsave.errors import BadInput
from blindsave.policies import load
from blindsave.policies.scripted import FIXED_CENTRE, INACTIVE, PRIVILEGED, SCRIPTED
from blindsave.task.controllers import intercept


def observations(n: int) -> np.ndarray:
    return np.random.default_rng(1).uniform(-1, 1, (n, 19)).astype(np.float32)


@pytest.mark.parametrize("policy", [INACTIVE, FIXED_CENTRE])
def test_scripted_policies_retain_nothing_and_do_not_mix_rows(policy):
    obs = observations(9)
    carry, actions = policy.step(policy.initial(9), obs)
    assert carry.shape == (9, 0)
    assert actions.dtype == np.float32
    for i in range(9):
        assert np.array_equal(policy.step(policy.initial(1), obs[i : i + 1])[1][0], actions[i])


def test_inactive_asks_for_where_the_mallet_is():
    obs = observations(4)
    assert np.array_equal(INACTIVE.step(INACTIVE.initial(4), obs)[1], obs[:, 14:16])


def test_privileged_reads_the_truth_and_not_the_observation():
    truth = np.random.default_rng(2).normal(size=(5, 4))
    first = PRIVILEGED.step(PRIVILEGED.initial(5), observations(5), truth)[1]
    second = PRIVILEGED.step(PRIVILEGED.initial(5), np.zeros((5, 19), np.float32), truth)[1]
    assert np.array_equal(first, second)
    assert np.array_equal(first, intercept(truth))


def test_only_the_privileged_one_asks_for_the_truth():
    assert [name for name, policy in SCRIPTED.items() if getattr(policy, "privileged", False)] == ["privileged"]


def test_every_scripted_policy_is_in_the_catalogue_and_named_where_there_is_no_such_policy():
    assert all(load(name) is policy for name, policy in SCRIPTED.items())
    with pytest.raises(BadInput, match=r"inactive, fixed_centre, privileged, planner, differences, .*bayes, teacher"):
        load("lazy")
