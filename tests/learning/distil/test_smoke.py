"""A small study with fixed seeds: memory pays, and correction pays."""

import pytest
from distil_fakes import FirstSightTeacher

from blindsave.diagnostics.action_errors import split_error
from blindsave.learning.distil import CollectionSchedule, Recipe, concatenate, episodes_of, shadow_labels
from blindsave.learning.distil.fit import fit
from blindsave.policies.closed_loop import run
from blindsave.policies.students import family
from blindsave.task.conditions import grid
from blindsave.task.shots import shots

BASE, SHADOW = 200, 100
RECIPE = Recipe(epochs=40, batch=16, learning_rate=2e-3, patience=40)


@pytest.fixture(scope="module")
def base():
    return episodes_of(FirstSightTeacher(), CollectionSchedule(BASE))


def train(name, data):
    return fit(family(name), data, seeds=[14303], recipe=RECIPE).students[0]


def hidden_error(student):
    """Error against the teacher on hidden steps of the student's own episodes."""
    played = run(student, grid(shots("validation")[:30], [20]), record=True)
    obs, actions = played.obs[:, :-1], played.actions.clip(-1, 1)
    labels = shadow_labels(FirstSightTeacher(), obs, actions, played.steps)
    return split_error(actions, labels, obs, played.steps)["hidden_steps"]


def test_memory_and_correction_pay_where_the_puck_is_hidden(base):
    collector, memoryless = train("structured_k0", base), train("feed_forward", base)
    shadow = episodes_of(collector, CollectionSchedule(SHADOW, 52303, 0, BASE), FirstSightTeacher())
    final = train("structured_k0", concatenate([base, shadow]))
    assert hidden_error(final) < 0.2 * hidden_error(memoryless)
    assert hidden_error(final) < 0.5 * hidden_error(collector)
