"""Where the planner sends the mallet."""

import numpy as np

from blindsave.learning.rivals import held
from blindsave.policies import load
from blindsave.policies.classical.rivals import true_planner
from blindsave.policies.closed_loop import run
from blindsave.task.episode import Episode
from blindsave.task.interface import mallet_m, normalise_mallet
from blindsave.task.shots import shots

TRAIN = shots("train")[::6]
HOME = np.array([0.65, 0.0])


def command(truth, mallet=HOME):
    """The first command, in metres."""
    observation = np.zeros((1, 19), np.float32)
    observation[0, 14:16] = normalise_mallet(np.array([mallet]))[0]
    planner = true_planner()
    return mallet_m(planner.step(planner.initial(1), observation, np.array([truth]))[1])[0]


def test_a_puck_that_goes_away_is_followed_from_the_line():
    assert np.allclose(command((1.5, 0.2, 1.0, 0.0)), (0.75, 0.2), atol=1e-6)


def test_a_near_puck_makes_it_ask_for_more_than_it_needs():
    late, early = command((1.5, 0.05, -2.2, 0.0)), command((2.2, 0.05, -1.2, 0.0))
    assert late[1] > 0.08 > early[1] > 0.045


def test_mirrored_shots_get_mirrored_commands():
    assert np.allclose(command((1.8, 0.02, -2.0, 0.1)), command((1.8, -0.02, -2.0, -0.1)) * (1, -1), atol=1e-5)


def test_a_slow_puck_is_fetched():
    assert command((1.2, 0.0, -0.4, 0.0))[0] > command((1.2, 0.0, -2.0, 0.0))[0] + 0.1


def test_told_the_truth_it_saves_support_shots_that_the_line_misses():
    support = [Episode(shot) for shot in TRAIN if not shot.alias_family]
    saves = {name: int(run(load(name), support).saved.sum()) for name in ("planner", "privileged")}
    assert saves["planner"] >= 0.98 * len(support)
    assert saves["planner"] > saves["privileged"]


def test_slow_shots_before_an_arm_that_was_held_are_saved():
    episodes = [held(shot) for shot in TRAIN if shot.alias_family]
    assert run(load("planner"), episodes).saved.mean() >= 0.95
