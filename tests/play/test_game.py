import numpy as np
import pytest

from blindsave.diagnostics.probe import Probe
from blindsave.errors import BadInput
from blindsave.play.game import Conditions, Game, Score
from blindsave.play.roster import Probed, Roster, available
from blindsave.policies import closed_loop, load
from blindsave.task import shots
from blindsave.task.conditions import CLEAN, condition
from blindsave.task.episode import Episode
from blindsave.task.outcomes import Outcome
from blindsave.task.shots import ALIAS_TARGETS, find
from blindsave.task.tracking import blackout

TWINS = [find(f"validation:alias:038:{target}") for target in ALIAS_TARGETS]


def named(name: str, policy=None, probe=None) -> Probed:
    return Probed(name, 0, policy or load(name), "", probe=probe)


PRIVILEGED, CENTRAL = named("privileged"), named("fixed_centre")


class Numb:
    """A policy whose second action after the lock is no number."""

    name = "numb"

    def initial(self, n):
        return np.zeros((n, 1), np.float32)

    def step(self, carry, obs):
        action = np.where(carry < 6, 0.0, np.nan).astype(np.float32)
        return carry + 1, np.repeat(action, 2, axis=1)


def play_out(game: Game) -> None:
    while game.tick():
        pass


@pytest.mark.parametrize("name", available())
def test_every_policy_on_offer_ends_as_in_evaluate(name):
    roster = Roster()
    cases = [(shot, length, mm) for shot in TWINS for length, mm in ((0, 0.0), (20, 0.0), (10, 5.0))]
    episodes = [(condition(f"noise_{mm:g}mm") if mm else CLEAN).episode(shot, length) for shot, length, mm in cases]
    expected = closed_loop.run(load(name), episodes)
    for k, (shot, length, mm) in enumerate(cases):
        game = Game()
        game.launch(shot, [roster.policy(name)], Conditions(5, length, mm))
        play_out(game)
        table = game.take.tables[0]
        assert (int(table.outcome), table.last, table.first_contact) == (
            expected.outcome[k], expected.steps[k], expected.first_contact[k],
        )  # fmt: skip


def test_another_blackout_start_hides_other_observations():
    episode = Conditions(12, 7).episode(TWINS[0])
    np.testing.assert_array_equal(episode.tracking.visible, blackout(7, 12).visible)
    assert (~Conditions(120, 50).episode(TWINS[0]).tracking.visible).sum() == 6


def test_slow_motion_pauses_and_steps_show_the_same_frames():
    straight, crooked = Game(), Game()
    for game in (straight, crooked):
        game.launch(TWINS[0], [PRIVILEGED, CENTRAL], Conditions())
    play_out(straight)
    crooked.set_speed(0.35)
    for _ in range(9):
        crooked.tick()
    crooked.paused = True
    assert not crooked.tick()
    crooked.step(3)
    crooked.step(-2)
    moment = crooked.moment
    assert moment == int(moment)
    crooked.paused = False
    play_out(crooked)
    for one, other in zip(straight.take.tables, crooked.take.tables, strict=True):
        assert one.outcome == other.outcome
        np.testing.assert_array_equal([f.qpos for f in one.frames], [f.qpos for f in other.frames])
    assert straight.scores == crooked.scores


def test_a_fractional_moment_lies_between_its_frames():
    game = Game()
    game.launch(TWINS[0], [PRIVILEGED], Conditions())
    play_out(game)
    table = game.take.tables[0]
    between = table.at(7.25).qpos
    np.testing.assert_allclose(between, 0.75 * table.frames[7].qpos + 0.25 * table.frames[8].qpos)
    assert table.at(10_000.0) is table.frames[-1]


def test_real_time_is_one_control_step_per_tick():
    game = Game()
    game.launch(TWINS[0], [CENTRAL], Conditions())
    for _ in range(20):
        game.tick()
    assert game.moment == pytest.approx(20)


def test_replay_shows_the_take_again_and_counts_nothing():
    game = Game()
    game.launch(TWINS[0], [PRIVILEGED], Conditions())
    play_out(game)
    frames, scores = list(game.take.tables[0].frames), dict(game.scores)
    game.replay()
    assert game.moment == 0 and game.outcome(0) == Outcome.RUNNING
    play_out(game)
    assert game.take.tables[0].frames == frames
    assert game.scores == scores == {"privileged": Score(1, 1)}


def test_the_same_shot_again_with_another_policy_keeps_the_conditions():
    game = Game()
    with pytest.raises(BadInput, match="no shot"):
        game.again([CENTRAL])
    game.launch(TWINS[1], [PRIVILEGED], Conditions(5, 15, 2.0))
    play_out(game)
    game.again([CENTRAL])
    assert game.take.shot is TWINS[1] and game.take.conditions == Conditions(5, 15, 2.0)
    play_out(game)
    assert set(game.scores) == {"privileged", "fixed_centre"}


def test_an_outcome_is_not_told_before_its_frame_is_shown():
    game = Game()
    game.launch(TWINS[0], [PRIVILEGED, CENTRAL], Conditions())
    while game.tick():
        for number, table in enumerate(game.take.tables):
            if game.moment < table.last:
                assert game.outcome(number) == Outcome.RUNNING
    assert all(game.outcome(number) != Outcome.RUNNING for number in range(2))


def test_frames_tell_what_was_seen_wanted_and_believed():
    probe = Probe(np.zeros((2, 19), np.float32), np.array([250.0, -40.0], np.float32))
    game = Game()
    game.launch(TWINS[0], [named("fixed_centre", probe=probe)], Conditions(5, 10))
    play_out(game)
    frames = game.take.tables[0].frames
    assert [frame.visible for frame in frames[:16]] == 5 * [True] + 10 * [False] + [True]
    for t, frame in enumerate(frames):
        assert (frame.seen is None) == (not frame.visible)
        if frame.visible:
            within = np.maximum(frame.puck, [-0.94235, -1.0])  # the observation ends at the goal line
            np.testing.assert_allclose(frame.seen, within, atol=1e-6)
            assert frame.believed is None
        else:
            np.testing.assert_allclose(frame.believed, [0.25, -0.04])
        assert (frame.target is None) == (t <= 5)


def test_noise_moves_what_is_seen_and_not_the_puck():
    game = Game()
    game.launch(TWINS[0], [CENTRAL], Conditions(5, 0, 20.0))
    play_out(game)
    offsets = [np.hypot(*(frame.seen - frame.puck)) for frame in game.take.tables[0].frames]
    assert 0.01 < np.mean(offsets) < 0.05


def test_an_action_that_is_no_number_ends_the_episode_as_a_failure():
    game = Game()
    game.launch(TWINS[0], [named("numb", Numb())], Conditions())
    play_out(game)
    expected = closed_loop.run(Numb(), [Episode(TWINS[0], blackout(20))])
    assert game.take.tables[0].outcome == expected.outcome[0] == Outcome.NON_FINITE_STATE
    assert game.scores == {"numb": Score(0, 1)}


@pytest.mark.parametrize("bad", [(-1, 5, 0.0), (5, -1, 0.0), (5, 5, -1.0), (5, 5, float("nan")), (900, 1, 0.0)])
def test_impossible_conditions_are_refused(bad):
    with pytest.raises(BadInput):
        Conditions(*bad)


@pytest.mark.parametrize("speed", [0.0, -1.0, 2.0, float("nan"), float("inf")])
def test_impossible_speeds_are_refused(speed):
    with pytest.raises(BadInput):
        Game().set_speed(speed)


def test_a_shot_needs_one_or_two_policies():
    with pytest.raises(BadInput):
        Game().launch(TWINS[0], [], Conditions())
    with pytest.raises(BadInput):
        Game().launch(TWINS[0], [CENTRAL] * 3, Conditions())


def test_a_game_without_a_shot_does_nothing():
    game = Game()
    game.replay()
    game.step()
    game.paused = False
    assert not game.tick() and game.outcome(0) == Outcome.RUNNING and game.scores == {}


def test_the_pair_of_the_first_page_exists():
    assert "validation:alias:038" in {
        s.alias_family.partition(":")[2] for s in shots.shots("validation") if s.alias_family
    }
