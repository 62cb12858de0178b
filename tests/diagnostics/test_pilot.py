"""The pilot's own part: a student's saves by length."""

import pytest

from blindsave.diagnostics.pilot import saves
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
