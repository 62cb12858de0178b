import numpy as np
import pytest
from scipy.spatial import cKDTree

from blindsave.diagnostics.action_errors import forced_error, padded, split_error
from blindsave.diagnostics.nearest import Reference, histories, nearest_history
from blindsave.learning.distil import CollectionSchedule, episodes_of
from blindsave.policies.students.student import Student
from blindsave.testing.training import random_episodes


def test_a_history_is_the_last_five_steps_right_aligned_with_flags():
    data = random_episodes([7, 3])
    features = histories(data)
    assert features.shape == (10, 110)
    now = np.concatenate([data.obs, data.previous], axis=1)
    np.testing.assert_array_equal(features[6, :105].reshape(5, 21), now[2:7])
    np.testing.assert_array_equal(features[6, 105:], np.ones(5))
    second = features[8]  # step 1 of the second episode: nothing of the first one is in it
    assert not second[: 3 * 21].any()
    np.testing.assert_array_equal(second[63:105].reshape(2, 21), now[7:9])
    np.testing.assert_array_equal(second[105:], [0, 0, 0, 1, 1])


def test_nearest_distances_are_those_of_a_search_tree():
    train, query = random_episodes([9] * 8), random_episodes([6] * 4, seed=1)
    reference = Reference.of(train)
    distances, variances = reference.nearest(query)
    standard = (histories(query)[:, reference.kept] - reference.mean[reference.kept]) / reference.deviation[
        reference.kept
    ]
    expected, near = cKDTree(reference.points).query(standard, k=16)
    np.testing.assert_allclose(distances, expected[:, 0], rtol=1e-9)
    np.testing.assert_allclose(variances, train.label.astype(float)[near].var(axis=1).mean(axis=1), rtol=1e-9)


def test_histories_seen_in_training_are_at_distance_zero():
    data = random_episodes([8] * 20)
    distances, _ = Reference.of(data).nearest(data)
    assert distances.max() < 1e-6


def test_a_student_that_strays_is_far_from_the_training_histories():
    base = random_episodes([10] * 40)
    base.obs[:] *= 0.01
    stray = random_episodes([10] * 5, seed=2)
    result = nearest_history(base, stray)
    assert result["p95_ratio"] > 10


def test_action_errors_separate_visible_and_hidden_steps():
    obs, labels = np.zeros((1, 4, 19), np.float32), np.zeros((1, 4, 2), np.float32)
    obs[0, :, 18] = [1, 0, 1, 1]
    actions = np.array([[[0.1, 0.1], [0.4, 0.4], [0.1, 0.1], [9, 9]]], np.float32)
    error = split_error(actions, labels, obs, np.array([3]))
    assert error["visible_steps"] == pytest.approx(0.01) and error["hidden_steps"] == pytest.approx(0.16)
    assert error["all_steps"] == error["equal_episode"] == pytest.approx(0.06)
    assert (error["steps"], error["hidden"]) == (3, 1)


@pytest.mark.parametrize("family", ["feed_forward", "finite_stack_10", "structured_k1", "gru_n64"])
def test_forced_errors_follow_the_recorded_commands(family):
    student, data = Student.untrained(family, 3), random_episodes([5, 9, 2])
    carry, total = None, []
    for i in range(3):
        rows, carry = data.rows(i), student.initial(1)
        for t in range(rows.start, rows.stop):
            if student.family.core.recurrent:
                carry = np.concatenate([carry[:, :-2], data.previous[t : t + 1]], axis=1)
            carry, action = student.step(carry, data.obs[t : t + 1])
            total.append(((action[0].astype(float) - data.label[t]) ** 2).mean())
    assert forced_error(student, data)["all_steps"] == pytest.approx(np.mean(total), rel=1e-6)


def test_padding_puts_rows_where_they_belong():
    data = random_episodes([2, 3])
    wide = padded(data.label, data)
    np.testing.assert_array_equal(wide[1, :3], data.label[2:])
    assert not wide[0, 2:].any()


def test_recorded_episodes_can_be_used_without_a_file():
    assert len(episodes_of(Student.untrained("feed_forward", 1), CollectionSchedule(2))) == 2
