"""Making whole numbers of a student: large ones keep their bits, and what has no form is refused."""

import hashlib

import numpy as np
import pytest
from studies import TERMINATED_MODELS

from blindsave.deploy import quantise
from blindsave.deploy.calibration import in_integers
from blindsave.deploy.integers import IntegerPolicy
from blindsave.deploy.rounding import FINE, PLAIN
from blindsave.errors import BadInput
from blindsave.policies import load
from blindsave.policies.native import ProgramPolicy
from blindsave.policies.students.student import Student
from blindsave.policies.trace import trace

SEEN = [np.zeros((5, 19), np.float32)]


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


PUBLISHED = {
    ("structured_k0/14303", "int8"): "ed2c7d01e0ce8bce",
    ("structured_k0/14303", "int16"): "75194d962b5ce9a8",
    ("gru_n64/14303", "int8"): "dc840c19ab603f29",
    ("gru_n64/14303", "int16"): "0b3cb58de1442ce1",
}
"""Of the first study's students, from before small policies chose their scales."""


def fingerprint(policy: IntegerPolicy) -> str:
    found = hashlib.sha256()
    for rows in (step.rows for step in policy.program.steps if step.rows is not None):
        for numbers in (rows.weight, rows.bias, rows.factor):
            found.update(np.ascontiguousarray(numbers, "<i8").tobytes())
        found.update(str(rows.shift).encode())
    return found.hexdigest()[:16]


@pytest.mark.parametrize(("name", "kind"), PUBLISHED)
def test_the_whole_numbers_of_the_published_policies_have_not_changed(name, kind):
    policy = load(TERMINATED_MODELS / "students" / f"{name}.safetensors")
    assert fingerprint(in_integers(policy, kind)) == PUBLISHED[name, kind]


@pytest.mark.parametrize(
    ("name", "integers", "scales"),
    [
        ("gru_n8_e8_c8_h8", "int8", FINE),
        ("gru_n8_e8_c8_h8", "int16", PLAIN),
        ("structured_k0_n1", "int8", PLAIN),
        ("structured_k0", "int8", PLAIN),
    ],
)
def test_only_small_policies_of_eight_bits_choose_their_scales(name, integers, scales, monkeypatch):
    used = []
    plain = quantise.whole_rows
    monkeypatch.setattr(quantise, "whole_rows", lambda *given: used.append(given[-1]) or plain(*given))
    quantise.integer_policy(Student.untrained(name, 1), integers, SEEN)
    assert used and all(one is scales for one in used)
