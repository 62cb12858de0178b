import numpy as np
import pytest

from blindsave.diagnostics.action_errors import forced_error, padded, split_error
from blindsave.policies.students.student import Student
from blindsave.testing.training import random_episodes


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
