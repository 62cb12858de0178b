"""Figure 1: the drawn pair of shots."""

from dataclasses import replace

import numpy as np

from blindsave.report.analysis import Analysis
from blindsave.report.figures import task


def test_the_drawn_pair_meets_when_tracking_stops_and_parts_at_the_goal():
    left, right = task.alias_pair()
    assert left.alias_family == right.alias_family
    meet = [task.flight(shot, np.array([0.1]))[0] for shot in (left, right)]
    assert np.abs(meet[0] - meet[1]).max() < 1e-3
    late = [task.flight(shot, np.array([0.8]))[0] for shot in (left, right)]
    assert late[1][1] - late[0][1] > 0.1


def test_the_drawn_flight_is_that_of_the_simulator():
    from blindsave.policies.closed_loop import run
    from blindsave.policies.scripted import INACTIVE
    from blindsave.task.conditions import grid

    shot = task.alias_pair()[0]
    truth = run(INACTIVE, grid([shot], [0]), record=True).truth[0]
    drawn = task.flight(shot, np.arange(30) * 0.02)
    assert np.abs(truth[:30, :2] - drawn - [1.51, 0]).max() < 1e-3


def test_without_memory_tests_two_panels_remain(analysis: Analysis):
    bare = replace(analysis, memory={}, memory_saves={})
    assert [panel.name for panel in task.why_memory(bare).panels] == ["f1a", "f1b"]


def test_drag_slows_a_puck_but_does_not_bend_its_path():
    shot = task.alias_pair()[0]
    path = task.flight(shot, np.array([0.0, 0.1, 0.2, 0.3]))
    assert path[0].tolist() == [shot.x, shot.y]
    steps = np.diff(path, axis=0)
    assert np.all(np.diff(np.linalg.norm(steps, axis=1)) < 0)
    assert np.allclose(steps[:, 0] * shot.vy, steps[:, 1] * shot.vx)
