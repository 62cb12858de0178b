"""The arena as a robot: in step it is `evaluate`, at a rate it lives with what comes."""

import numpy as np
import pytest

from blindsave.drive import DriveOptions, DriveProcess, Robot
from blindsave.drive.faults import Faults
from blindsave.errors import BadInput
from blindsave.policies.closed_loop import run
from blindsave.task.conditions import condition, grid
from blindsave.task.shots import shots


@pytest.mark.parametrize("under", ["clean", "noise_5mm", "latency_2+outliers_3percent"])
def test_in_step_every_shot_ends_as_in_an_evaluation(program, policy, under):
    episodes = grid(shots("validation")[:12], (0, 20), condition(under))
    with DriveProcess(program, DriveOptions.in_step()) as loop, Robot(loop.address) as robot:
        played = robot.play(episodes)
    expected = run(policy, episodes, threads=1)
    assert played.outcomes == expected.outcome.tolist() and played.ticks == expected.steps.sum()
    assert played.saves == expected.saved.sum() and played.modes["run"] == played.ticks


def test_lost_packets_are_lived_through(program):
    episodes = grid(shots("validation")[:4], (0,))
    options = DriveOptions.at_rate(500)
    with DriveProcess(program, options) as loop:
        with Robot(loop.address, rate_hz=500, faults=Faults(loss=0.3, duplicate=0.2, corrupt=0.1)) as robot:
            played = robot.play(episodes)
        said = loop.stop()
    assert len(played.outcomes) == 4 and robot.line.counts["loss"] > 0
    assert said["missing"] > 0 and said["packets"]["corrupt"] > 0 and said["packets"]["fresh"] < played.ticks


def test_a_new_episode_is_noticed_although_its_first_packet_was_lost(program):
    seen = np.zeros(19, np.float32)
    with DriveProcess(program, DriveOptions.in_step()) as loop, Robot(loop.address) as robot:
        fresh = robot.ask(seen)
        later = [robot.ask(seen) for _ in range(5)][-1]
        robot.episode, robot.sequence = 1, robot.sequence + 1  # as if one had been lost
        again = robot.ask(seen)
    assert fresh is not None and later is not None and again is not None
    assert np.array_equal(again.action, fresh.action) and not np.array_equal(later.action, fresh.action)


def test_without_a_loop_the_robot_brakes_by_itself_and_says_so(monkeypatch):
    with Robot(("127.0.0.1", 9), rate_hz=1000) as robot:
        played = robot.play(grid(shots("validation")[:1], (0,)))
    assert played.unanswered == played.ticks and played.braked == played.ticks - 10
    monkeypatch.setattr("blindsave.drive.robot.ANSWER_S", 0.05)
    with Robot(("127.0.0.1", 9)) as robot, pytest.raises(BadInput, match="no answer"):
        robot.play(grid(shots("validation")[:1], (0,)))


def test_answers_to_somebody_else_are_not_obeyed(program):
    seen = np.zeros(19, np.float32)
    with DriveProcess(program, DriveOptions.in_step()) as loop, Robot(loop.address, session=5) as robot:
        assert robot.ask(seen) is not None
        robot.session = 6
        answer = robot.ask(seen)
        assert answer is not None and answer.session == 6
