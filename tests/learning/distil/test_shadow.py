import numpy as np
import pytest
from distil_fakes import EchoTeacher

from blindsave.bench.students import random_teacher
from blindsave.errors import BadInput
from blindsave.learning.distil.schedule import CollectionSchedule, episodes
from blindsave.learning.distil.shadow import action_error, shadow_labels
from blindsave.policies.closed_loop import run
from blindsave.policies.scripted import INACTIVE
from blindsave.policies.students.student import Student
from blindsave.task.results import EpisodeResults


def stream(count=5, longest=9, seed=0):
    rng = np.random.default_rng(seed)
    steps = rng.integers(1, longest + 1, count).astype(np.int16)
    steps[0] = longest
    obs = rng.uniform(-1, 1, (count, longest + 1, 19)).astype(np.float32)
    actions = rng.uniform(-1, 1, (count, longest, 2)).astype(np.float32)
    return obs, actions, steps


def test_the_teacher_believes_it_gave_the_students_commands():
    obs, actions, steps = stream()
    labels = shadow_labels(EchoTeacher(), obs, actions, steps)
    for i, length in enumerate(steps):
        for t in range(length):
            told = actions[i, t - 1] if t else np.zeros(2)
            expected = 0.5 * told + 0.25 * obs[i, t, :2] + 0.01 * t  # its own count goes on: the state persists
            np.testing.assert_allclose(labels[i, t], expected, atol=1e-6)


def test_labels_differ_from_those_of_a_teacher_that_trusts_its_own_commands():
    obs, actions, steps = stream()
    teacher = EchoTeacher()
    labels = shadow_labels(teacher, obs, actions, steps)
    carry, own = teacher.initial(1), []
    for t in range(steps[0]):
        carry, action = teacher.step(carry, obs[:1, t])
        own.append(action[0])
    assert np.array_equal(labels[0, 0], own[0])  # the first step has no previous command
    assert np.abs(labels[0, 1:] - np.array(own)[1:]).max() > 0.1


def test_every_valid_step_is_labelled_and_nothing_else():
    obs, actions, steps = stream(count=150, seed=3)
    labels = shadow_labels(EchoTeacher(), obs, actions, steps)
    valid = np.arange(actions.shape[1]) < steps[:, None]
    assert (np.abs(labels[valid]).sum(1) > 0).all()
    assert not labels[~valid].any()


def test_labels_stay_in_the_range_of_actions():
    obs, actions, steps = stream()
    loud = EchoTeacher()
    loud.step = lambda carry, o: (carry, np.full((len(o), 2), 3.0, np.float32))
    assert shadow_labels(loud, obs, actions, steps).max() == 1.0


def test_the_dreamer_teacher_gives_the_same_labels_in_any_grouping_and_depends_on_the_commands():
    obs, actions, steps = stream(count=70, longest=6, seed=1)
    teacher = random_teacher()
    together = shadow_labels(teacher, obs, actions, steps, threads=2)
    alone = np.concatenate([shadow_labels(teacher, *(x[i : i + 1] for x in (obs, actions, steps))) for i in range(70)])
    assert np.array_equal(together, alone)
    other = shadow_labels(teacher, obs, -actions, steps)
    assert np.array_equal(together[:, 0], other[:, 0]) and not np.array_equal(together, other)


def test_arrays_that_do_not_belong_together_are_refused():
    obs, actions, steps = stream()
    with pytest.raises(BadInput, match="do not belong together"):
        shadow_labels(EchoTeacher(), obs[:-1], actions, steps)


def test_action_error_is_the_mean_squared_distance_to_the_shadow_teacher():
    class Centred(EchoTeacher):
        def step(self, carry, observation):
            return carry, np.zeros((len(observation), 2), np.float32)

    actions = np.zeros((2, 3, 2), np.float32)
    actions[0, :2] = [[1.0, 0.0], [0.5, 0.5]]
    actions[1, :3] = [[0.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    actions[0, 2] = 9.0  # after the end, and so of no account
    ended, steps = np.zeros(2, np.int8), np.array([2, 3], np.int16)
    played = EpisodeResults(ended, steps, steps, np.zeros(2), np.zeros((2, 4, 19), np.float32), actions)
    assert action_error(Centred(), played).tolist() == pytest.approx([(0.5 + 0.25) / 2, (0 + 0.5 + 1) / 3])


def test_action_errors_are_zero_for_a_teacher_that_follows_itself():
    plays, teacher = episodes(CollectionSchedule(3)), EchoTeacher()
    assert not action_error(teacher, run(teacher, plays, record=True)).any()
    assert action_error(teacher, run(Student.untrained("structured_k0", 1), plays, record=True)).min() > 0


def test_action_error_needs_a_recording_and_a_teacher_that_can_follow():
    steps = np.ones(1, np.int16)
    with pytest.raises(BadInput, match="recorded"):
        action_error(EchoTeacher(), EpisodeResults(np.zeros(1, np.int8), steps, steps, np.zeros(1)))
    obs, actions, steps = stream()
    with pytest.raises(BadInput, match="inactive cannot label"):
        shadow_labels(INACTIVE, obs, actions, steps)  # pyright: ignore[reportArgumentType]
