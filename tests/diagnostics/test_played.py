"""Counts of played grids, and clear episodes as a dataset has them."""

import numpy as np
import pytest

from blindsave.diagnostics.played import clear_episodes, outcome_counts, saves_by_length
from blindsave.policies import closed_loop, resolve
from blindsave.policies.students.student import Student
from blindsave.task.conditions import grid
from blindsave.task.outcomes import Outcome
from blindsave.task.results import EpisodeResults
from blindsave.task.shots import shots

CHOSEN = shots("calibration")[:4]


@pytest.fixture(scope="module")
def student() -> Student:
    return Student.untrained("structured_k2", 3)


def test_a_grid_is_counted_by_length_and_by_outcome():
    results = EpisodeResults.blank(6)
    results.outcome[:] = [Outcome.RETURNED, Outcome.GOAL_CONCEDED] * 2 + [Outcome.ARRESTED, Outcome.RETURNED]
    assert saves_by_length(results, (0, 20)) == {"0": {"saves": 3, "shots": 3}, "20": {"saves": 1, "shots": 3}}
    assert outcome_counts(results) == {"goal_conceded": 2, "returned": 3, "arrested": 1}


def test_clear_episodes_are_the_policys_own_play(student):
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


def test_episodes_can_have_numbers_of_their_own_and_are_counted_while_played():
    told: list[int] = []
    data = clear_episodes(resolve("inactive").policy, CHOSEN, 1, np.array([8, 11, 19, 20]), told.append)
    np.testing.assert_array_equal(data.index, [8, 11, 19, 20])
    assert sum(told) == 4
