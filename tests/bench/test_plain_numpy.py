"""The yardstick in plain NumPy."""

import numpy as np
import pytest

from blindsave.bench.plain_numpy import plain_numpy
from blindsave.errors import BadInput
from blindsave.policies.students import families
from blindsave.policies.students.student import Student
from blindsave.policies.trace import trace


@pytest.mark.parametrize("name", families())
def test_the_numpy_yardstick_computes_the_same_policy(name):
    student = Student.untrained(name, 14303)
    step, session = plain_numpy(student.program), student.session()
    for observation in np.random.default_rng(0).uniform(-1, 1, (30, 19)).astype(np.float32):
        np.testing.assert_allclose(step(observation), session.step(observation), atol=1e-5)


def test_the_numpy_yardstick_checks_its_input_too():
    with pytest.raises(ValueError, match="finite"):
        plain_numpy(Student.untrained("gru_n64", 1).program)(np.full(19, np.nan, np.float32))


def test_operations_without_a_yardstick_are_refused():
    with pytest.raises(BadInput, match="onehot"):
        plain_numpy(trace(lambda ops, c, o: (c, ops.onehot(o, 4)), carry=0, observation=4))
