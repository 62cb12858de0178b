"""The yardstick in plain NumPy."""

import numpy as np
import pytest
from family_kinds import PLAIN

from blindsave.bench.plain_numpy import plain_numpy
from blindsave.errors import BadInput
from blindsave.policies.classical.rivals import RIVALS, rival
from blindsave.policies.closed_loop import run
from blindsave.policies.students.student import Student
from blindsave.policies.trace import trace
from blindsave.task.conditions import condition
from blindsave.task.shots import shots


@pytest.mark.parametrize("name", PLAIN)
def test_the_numpy_yardstick_computes_the_same_policy(name):
    student = Student.untrained(name, 14303)
    step, session = plain_numpy(student.program), student.session()
    for observation in np.random.default_rng(0).uniform(-1, 1, (30, 19)).astype(np.float32):
        np.testing.assert_allclose(step(observation), session.step(observation), atol=1e-5)


@pytest.mark.parametrize("name", RIVALS)
def test_the_yardstick_decides_as_a_rival_does(name):
    policy = rival(name)
    played = run(policy, [condition("noise_2mm").episode(shots("train")[0], 10)], record=True)
    assert played.obs is not None and played.actions is not None
    step = plain_numpy(policy.program)
    for t in range(played.steps[0]):
        np.testing.assert_allclose(step(played.obs[0, t]), played.actions[0, t], atol=1e-3)


def test_the_numpy_yardstick_checks_its_input_too():
    with pytest.raises(ValueError, match="finite"):
        plain_numpy(Student.untrained("gru_n64", 1).program)(np.full(19, np.nan, np.float32))


def test_operations_without_a_yardstick_are_refused():
    with pytest.raises(BadInput, match="onehot"):
        plain_numpy(trace(lambda ops, c, o: (c, ops.onehot(o, 2)), carry=0, observation=4))


def test_every_operation_of_the_yardstick_is_the_canonical_one():
    one = np.float32([0.5, 2.0, -1.5])

    def step(ops, carry, seen):
        positive = ops.exp(seen)
        mixed = ops.log(positive) / ops.sqrt(positive) - ops.minimum(ops.maximum(seen, one), 0.75)
        return ops.sigmoid(carry + ops.silu(seen)) * one, ops.concat(ops.tanh(mixed), carry[..., 1:])

    program = trace(step, carry=3, observation=3)
    quick, carry = plain_numpy(program), np.zeros((1, 3), np.float32)
    for observation in np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32):
        carry, action = program.run(carry, observation[None])
        np.testing.assert_allclose(quick(observation), action[0], atol=1e-5)


def test_two_yardsticks_of_one_program_keep_their_own_memories():
    program = Student.untrained("gru_n64", 1).program
    first, second = plain_numpy(program), plain_numpy(program)
    seen = np.random.default_rng(0).uniform(-1, 1, (4, 19)).astype(np.float32)
    expected = [first(row).copy() for row in seen]
    assert not np.array_equal(first(seen[0]), expected[0])
    np.testing.assert_array_equal(second(seen[0]), expected[0])
