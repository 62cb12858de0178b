"""The pilot's own parts: saves by length, and a student's clear episodes."""

import numpy as np
import pytest

from blindsave.diagnostics.pilot import clear_episodes, saves
from blindsave.policies import closed_loop
from blindsave.policies.students.student import Student
from blindsave.task.conditions import grid
from blindsave.task.shots import shots

CHOSEN = shots("calibration")[:4]


@pytest.fixture(scope="module")
def student() -> Student:
    return Student.untrained("structured_k2", 3)


def test_saves_are_counted_by_blackout_length(student):
    found = saves(student, CHOSEN, (0, 10), threads=1)
    assert list(found) == ["0", "10"]
    for length, cell in found.items():
        alone = closed_loop.run(student, grid(CHOSEN, [int(length)]))
        assert cell == {"saves": int(alone.saved.sum()), "shots": 4}


def test_clear_episodes_are_the_students_own_play(student):
    data = clear_episodes(student, CHOSEN, threads=1)
    played = closed_loop.run(student, grid(CHOSEN, [0]), record=True)
    assert played.obs is not None and played.actions is not None
    assert len(data) == 4 and not data.blackout.any()
    for i in range(4):
        steps = int(played.steps[i])
        np.testing.assert_array_equal(data.obs[data.rows(i)], played.obs[i, :steps])
        np.testing.assert_array_equal(data.action[data.rows(i)], played.actions[i, :steps])
        np.testing.assert_array_equal(data.final_obs[i], played.obs[i, steps])
    np.testing.assert_array_equal(data.label, data.action)
    np.testing.assert_array_equal(data.outcome, played.outcome)
