"""The memoryless control."""

import numpy as np

from blindsave.policies.students.registry import family
from blindsave.policies.students.student import Student


def test_it_carries_nothing_not_even_its_previous_action():
    kind = family("feed_forward")
    assert kind.carry == 0 and kind.core.memory == 0 and kind.features == 32
    assert not [name for name in kind.shapes if name.startswith("core.")]


def test_the_same_observation_gives_the_same_action_whatever_came_before():
    student = Student.untrained("feed_forward", 2)
    seen = np.random.default_rng(0).uniform(-1, 1, (9, 19)).astype(np.float32)
    _, actions = student.unroll(np.concatenate([seen, seen[::-1]]))
    assert actions[:9].tobytes() == actions[::-1][:9].tobytes()
    assert len(np.unique(actions[:9], axis=0)) == 9
