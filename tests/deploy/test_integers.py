"""Students in whole numbers: close to float, safe at every size, and rounded with the data in mind."""

import numpy as np
import pytest
from family_kinds import ATTENTION, PLAIN

from blindsave.deploy import integers as whole
from blindsave.deploy.calibration import in_integers, recorded
from blindsave.deploy.quantise import integer_policy
from blindsave.errors import BadInput
from blindsave.policies import load
from blindsave.policies.arithmetic import sigmoid
from blindsave.policies.students import family
from blindsave.policies.students.student import Provenance, Student
from blindsave.testing.contract import observations, randomised_params

KINDS = ("int8", "int16")


def seen(steps: int = 40, episodes: int = 6) -> list[np.ndarray]:
    return list(np.clip(observations(steps, episodes, seed=5).swapaxes(0, 1), -1, 1).astype(np.float32))


def student(name: str) -> Student:
    return Student(family(name), randomised_params(family(name), 3), Provenance(3))


def actions(policy, episode) -> np.ndarray:
    carry, found = policy.initial(1), []
    for row in episode:
        carry, action = policy.step(carry, row[None])
        found.append(action[0])
    return np.array(found)


@pytest.mark.parametrize("name", PLAIN)
def test_every_family_has_a_form_in_whole_numbers_close_to_itself(name):
    policy, episodes = student(name), seen()
    errors = {}
    for kind in KINDS:
        mine = integer_policy(policy, kind, episodes)
        differences = [actions(mine, one) - policy.unroll(one)[1] for one in episodes]
        errors[kind] = float(np.sqrt(np.mean(np.square(differences))))
    assert errors["int16"] < 0.02 and errors["int8"] < 0.15 and errors["int16"] < errors["int8"]


def test_a_core_without_a_whole_number_form_is_refused_in_one_sentence():
    with pytest.raises(BadInput, match="no whole-number form"):
        integer_policy(student(ATTENTION), "int8", seen())


def test_the_shipped_linear_memory_loses_little_with_eight_bits():
    policy = load("structured_k0/14303")
    mine = in_integers(policy, "int8")
    episodes = recorded(policy)[::40]
    errors = np.concatenate([actions(mine, one) - policy.unroll(one)[1] for one in episodes])
    assert np.sqrt(np.mean(errors**2)) < 0.05


def test_sums_stay_within_32_bits_whatever_the_inputs():
    for name in ("structured_k0", "gru_n64"):
        for kind in KINDS:
            for step in integer_policy(student(name), kind, seen()).program.steps:
                if step.rows is not None:
                    weight, bias = np.abs(step.rows.weight), np.abs(step.rows.bias)
                    assert (weight.sum(axis=1) * whole.INPUT_LIMIT + bias).max() <= whole.SUM_LIMIT
                    assert weight.max() <= whole.WEIGHT_LIMIT[kind] and step.rows.factor.max() <= 65535


def test_values_saturate_instead_of_wrapping():
    mine = integer_policy(student("structured_k0"), "int8", seen())
    carry = np.full((1, mine.program.source.carry), whole.VALUE_LIMIT, np.int32)
    for sign in (1, -1):
        for _ in range(300):
            carry, action = mine.program.run(carry, np.full((1, 19), sign * 2**30, np.int32))
            assert np.abs(carry).max() <= whole.VALUE_LIMIT and np.abs(action).max() <= whole.VALUE_LIMIT


def test_the_logistic_function_is_right_to_four_digits_and_never_falls():
    x = np.arange(-(20 << 16), 20 << 16, 97, dtype=np.int64)
    y = whole.sigmoid(x, 16)
    assert np.abs(y / 2**23 - sigmoid((x / 65536).astype(np.float32))).max() < 1e-4
    assert (np.diff(y) >= 0).all()


def test_observations_are_rounded_clipped_and_never_nonsense():
    x = np.array([[0.5, -0.5, 2.0, -3.0, np.nan, 2.0**-23, -(2.0**-23)]], np.float32)
    assert whole.quantised(x).tolist() == [[2**21, -(2**21), 2**22, -(2**22), 0, 1, -1]]
