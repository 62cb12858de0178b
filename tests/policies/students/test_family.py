"""Encoder, core and head together."""

import numpy as np

from blindsave.policies.students import PAPER_FAMILIES, family

SEED = 14303


def test_families_with_equal_encoders_share_their_first_draws():
    first = {name: family(name).init(SEED)["encoder.1.weight"] for name in PAPER_FAMILIES}
    same = {name for name in first if np.array_equal(first[name], first["gru_n64"])}
    assert same == set(PAPER_FAMILIES) - {"finite_stack_10"}


def test_the_own_previous_action_is_fed_back():
    from blindsave.policies.students.student import Student

    for name in ("structured_k0", "gru_n64"):
        student = Student.untrained(name, SEED)
        carry, action = student.step(student.initial(2), np.full((2, 19), 0.3, np.float32))
        assert carry[:, -2:].tobytes() == action.tobytes()
