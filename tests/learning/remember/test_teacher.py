import numpy as np
import pytest

from blindsave.learning.remember.teacher import TEACHER, wait_and_clear
from blindsave.policies.closed_loop import run
from blindsave.task.audit import families
from blindsave.task.controllers import HOME_M
from blindsave.task.interface import mallet_m
from blindsave.task.outcomes import Outcome
from blindsave.task.remember import HOLDS, remembering


@pytest.mark.parametrize("hold", (HOLDS[0], HOLDS[-1]))
def test_the_teacher_saves_alias_shots_at_both_ends_of_the_dial(hold):
    twins = [shot for pair in families("validation")[:10] for shot in pair]
    played = run(TEACHER, [remembering(hold).episode(shot) for shot in twins])
    assert (played.outcome != Outcome.GOAL_CONCEDED).all()
    assert played.saved.mean() >= 0.9


def test_it_waits_on_its_line_where_the_puck_will_cross_it():
    truth = np.array([[1.65, 0.1, -1.0, -0.1]])
    np.testing.assert_allclose(mallet_m(wait_and_clear(truth)), [[HOME_M[0], 0.0]], atol=1e-6)


def test_a_puck_that_comes_no_more_is_pushed_away():
    for truth in ([0.8, 0.05, -0.1, 0.0], [0.9, 0.05, 0.4, 0.0]):
        np.testing.assert_allclose(mallet_m(wait_and_clear(np.array([truth]))), [truth[:2]], atol=1e-6)


def test_twins_ask_for_opposite_sides_and_not_for_the_middle():
    left, right = families("validation")[0]
    for shot, side in ((left, -1), (right, 1)):
        truth = np.array([[shot.x + 1.51, shot.y, 0.7 * shot.vx, 0.7 * shot.vy]])
        assert mallet_m(wait_and_clear(truth))[0, 1] * side > 0.05
