"""The puck and the arm as the planner sees them, beside the simulator."""

import numpy as np

from blindsave.arena.constants import BUTTER_STEADY
from blindsave.learning.rivals import COMMANDS_M, measure_lag
from blindsave.policies import load
from blindsave.policies.classical import motion
from blindsave.policies.classical.rivals import settings
from blindsave.policies.closed_loop import run
from blindsave.task.episode import Episode
from blindsave.task.shots import shots


def test_the_puck_glides_as_in_the_simulator():
    result = run(load("inactive"), [Episode(shot) for shot in shots("train")[:5]], record=True)
    assert result.truth is not None
    for truth in result.truth:
        place, velocity = truth[0, :2], truth[0, 2:]
        for steps in (1, 7, 20):
            assert np.allclose(truth[steps, :2], place + velocity * motion.glide_s(steps), atol=1e-9)
            assert np.allclose(truth[steps, 2:], velocity * motion.PUCK_DECAY**steps, atol=1e-9)


def test_the_arm_follows_a_far_command_as_measured():
    lag, error = measure_lag()
    assert lag == settings("planner").planner.lag
    assert error < 0.015  # of the way, for commands of these sizes at any time
    assert min(COMMANDS_M) <= 0.05 and max(COMMANDS_M) >= 0.4


def test_a_command_that_is_where_the_arm_rests_keeps_it_there():
    own, share = motion.arm_responses(0.2, 60)
    rest = own[:, :4] @ BUTTER_STEADY + own[:, 4] + share
    assert np.allclose(rest, 1.0)
    assert np.all(np.diff(share[:30]) > 0) and 0.9 < share[35] < 1.1
