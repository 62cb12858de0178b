"""A small study with fixed seeds: memory pays, and correction pays."""

import pytest
from distil_fakes import FirstSightTeacher

from blindsave.learning.distil import Recipe, Schedule, concatenate, episodes_of
from blindsave.learning.distil.errors import own_error
from blindsave.learning.distil.fit import fit
from blindsave.policies.students import family
from blindsave.task.episode import grid
from blindsave.task.shots import shots

BASE, SHADOW = 200, 100
RECIPE = Recipe(epochs=40, batch=16, learning_rate=2e-3, patience=40)


@pytest.fixture(scope="module")
def base():
    return episodes_of(FirstSightTeacher(), Schedule(BASE))


def hidden_errors(name, base):
    """Errors on hidden steps of the student's own episodes: of its collector and of the corrected final."""
    teacher, kind, plays = FirstSightTeacher(), family(name), grid(shots("validation")[:30], [20])
    collector = fit(kind, base, seeds=[14303], recipe=RECIPE).students[0]
    shadow = episodes_of(collector, Schedule(SHADOW, 52303, 0, BASE), teacher)
    final = fit(kind, concatenate([base, shadow]), seeds=[14303], recipe=RECIPE).students[0]
    return [own_error(student, teacher, plays)[0]["hidden_steps"] for student in (collector, final)]


def test_memory_beats_no_memory_where_the_puck_is_hidden(base):
    collector, linear = hidden_errors("structured_k0", base)
    _, memoryless = hidden_errors("feed_forward", base)
    assert linear < 0.2 * memoryless
    assert linear < collector
