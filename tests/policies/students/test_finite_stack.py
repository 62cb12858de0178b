"""The window of the last readings."""

import numpy as np

from blindsave.policies import arithmetic
from blindsave.policies.students import family
from blindsave.policies.students.finite_stack import FiniteStack
from blindsave.policies.students.student import Student


def test_the_stack_holds_ten_readings_oldest_first():
    core, memory = family("finite_stack_10").core, np.zeros((1, 30), np.float32)
    for step in range(1, 13):
        seen = np.full((1, 19), 0.5, np.float32)
        seen[0, 16:] = [step, -step, 1.0]
        memory, x = core.observe(arithmetic, memory, seen)
    assert memory[0].tolist() == [v for step in range(3, 13) for v in (step, -step, 1.0)]
    assert x[0].tolist() == [0.5] * 16 + memory[0].tolist()


def test_before_the_episode_began_there_are_zeros():
    core, memory = FiniteStack(3), np.zeros((1, 9), np.float32)
    seen = np.arange(19, dtype=np.float32)[None]
    memory, handed = core.observe(arithmetic, memory, seen)
    assert memory[0].tolist() == [0, 0, 0, 0, 0, 0, 16, 17, 18]
    assert core.observed == handed.shape[-1] == 16 + 9
    assert handed[0, :16].tolist() == list(range(16))


def test_only_the_last_readings_matter():
    student = Student.untrained("finite_stack_3", 1)
    seen = np.random.default_rng(0).uniform(-1, 1, (8, 19)).astype(np.float32)
    other = seen.copy()
    other[:5] *= -1
    same = student.unroll(seen)[1] == student.unroll(other)[1]
    assert not same[:7].all(axis=1).any()
    assert same[7].all()


def test_what_the_arm_felt_before_is_forgotten_at_once():
    student = Student.untrained("finite_stack_3", 1)
    seen = np.random.default_rng(0).uniform(-1, 1, (2, 19)).astype(np.float32)
    other = seen.copy()
    other[0, :16] *= -1  # all but the puck
    assert student.unroll(seen)[1][1].tobytes() == student.unroll(other)[1][1].tobytes()
