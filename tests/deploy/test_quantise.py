"""Making whole numbers of a student: rounded with the data in mind, refused where there is no form."""

import numpy as np
import pytest

from blindsave.deploy import quantise
from blindsave.deploy.calibration import in_integers
from blindsave.errors import BadInput
from blindsave.policies import load
from blindsave.policies.native import ProgramPolicy
from blindsave.policies.students.student import Student
from blindsave.policies.trace import trace

SEEN = [np.zeros((5, 19), np.float32)]


def test_rounding_with_the_data_beats_rounding_without():
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(4000, 6)) @ rng.normal(size=(6, 24))  # 24 inputs that vary in six ways only
    inputs = np.concatenate([inputs, np.ones((4000, 1))], axis=1)
    weight = rng.normal(0, 3, (16, 25))
    found, bias = quantise.rounded(weight, inputs.T @ inputs / 4000, 127)
    with_data = inputs @ (np.concatenate([found, bias[:, None]], axis=1) - weight).T
    without = inputs @ (np.floor(weight + 0.5) - weight).T
    assert np.sqrt(np.mean(with_data**2)) < 0.5 * np.sqrt(np.mean(without**2))


def test_a_calibration_needs_episodes():
    with pytest.raises(BadInput, match="there are none"):
        quantise.integer_policy(Student.untrained("structured_k0", 1), "int8", [])


def test_what_has_no_form_in_whole_numbers_is_refused_by_name():
    policy = ProgramPolicy("odd/one", trace(lambda ops, c, o: (c, ops.exp(o[..., :2])), carry=1, observation=19))
    with pytest.raises(BadInput, match="`exp`"):
        quantise.integer_policy(policy, "int8", SEEN)
    with pytest.raises(BadInput, match="not a program"):
        in_integers(load("inactive"), "int8")


def test_an_input_that_never_varies_decides_nothing():
    policy = quantise.integer_policy(Student.untrained("structured_k0", 1), "int8", SEEN)
    assert np.isfinite(policy.step(policy.initial(1), np.ones((1, 19), np.float32))[1]).all()
