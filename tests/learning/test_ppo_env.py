"""The task as Stable-Baselines3 sees it: the study's draws, honest endings, observations that nobody overwrites."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

from blindsave.errors import BlindsaveError
from blindsave.learning.ppo_env import DefendVecEnv
from blindsave.task.defend import DefendBatch
from blindsave.task.outcomes import Outcome
from blindsave.task.sampling import Sampler
from blindsave.task.shots import shots

STILL = np.zeros((2, 2), np.float32)


def test_every_place_draws_shot_then_blackout_from_its_own_generator():
    env = DefendVecEnv(14304, places=3)
    for place in range(3):
        rng = np.random.default_rng(12303 + 8 * 14304 + place)
        for _ in range(20):
            episode = env.sample(place)
            assert episode.shot is shots("train")[rng.integers(0, 900)]
            length = rng.choice([0, 5, 10, 15, 20], p=[0.5, 0.125, 0.125, 0.125, 0.125])
            assert env.blackouts[place] == length == (~episode.tracking.visible).sum()
            assert episode.locked_steps == 5


def test_half_of_the_episodes_have_no_blackout_and_the_other_lengths_share_the_rest():
    env = DefendVecEnv(1, places=1)
    lengths = []
    for _ in range(4000):
        env.sample(0)
        lengths.append(env.blackouts[0])
    share = {length: lengths.count(length) / 4000 for length in (0, 5, 10, 15, 20)}
    assert share[0] == pytest.approx(0.5, abs=0.03)
    assert all(share[length] == pytest.approx(0.125, abs=0.03) for length in (5, 10, 15, 20))


def test_a_finished_place_reports_its_end_and_starts_the_next_episode():
    env, alone = DefendVecEnv(5, places=2), DefendBatch(1, threads=1)
    first = env.reset()
    copy = DefendVecEnv(5, places=2)
    episodes = [copy.sample(place) for place in range(2)]
    dones = np.zeros(2, bool)
    while not dones.any():
        obs, rewards, dones, infos = env.step(STILL)
    place = int(np.flatnonzero(dones)[0])
    alone.reset([episodes[place]])
    assert alone.obs[0].tobytes() == first[place].tobytes()
    while alone.outcome[0] == 0:
        alone.step(STILL[:1])
    assert infos[place]["terminal_observation"].tobytes() == alone.obs[0].tobytes()
    assert infos[place]["episode"] == {"r": alone.score[0], "l": alone.steps[0]}
    assert rewards[place] == np.float32(alone.reward[0]) and rewards.dtype == np.float32
    assert infos[place]["TimeLimit.truncated"] is False
    assert [end.outcome for end in env.finished] == [Outcome(int(alone.outcome[0]))]
    alone.reset([copy.sample(place)])
    assert obs[place].tobytes() == alone.obs[0].tobytes()
    assert infos[1 - place] == {}


def test_observations_are_copies():
    env = DefendVecEnv(5, places=2)
    first = env.reset()
    before = first.copy()
    second, *_ = env.step(STILL)
    assert first.tobytes() == before.tobytes() and second.tobytes() != before.tobytes()
    assert not np.shares_memory(second, env.batch.obs)


class Ending:
    """A batch whose only place ends at once, in the way asked for."""

    def __init__(self, outcome):
        self.obs = np.full((1, 19), 0.25, np.float32)
        self.end = outcome
        self.outcome, self.steps = np.zeros(1, np.int8), np.full(1, 125, np.int16)
        self.reward, self.score = np.array([0.2]), np.array([0.2])

    def step(self, actions):
        self.outcome[:] = self.end

    def reset(self, episodes, ids):
        self.outcome[:] = 0
        self.obs[:] = 0.75


@pytest.mark.parametrize("outcome", [o for o in Outcome if o and not o.faulty])
def test_only_running_out_of_time_is_a_truncation(outcome):
    env = DefendVecEnv(5, places=1)
    env.batch = Ending(outcome)
    obs, _, dones, infos = env.step(np.zeros((1, 2), np.float32))
    assert dones.tolist() == [True] and obs[0, 0] == 0.75
    assert infos[0]["TimeLimit.truncated"] is outcome.label.startswith("timeout")
    assert infos[0]["terminal_observation"][0] == 0.25
    assert infos[0]["is_success"] is outcome.saved


def test_a_broken_simulation_stops_the_training():
    env = DefendVecEnv(5, places=1)
    env.batch = Ending(Outcome.SIMULATOR_FAULT)
    with pytest.raises(BlindsaveError, match="training place 0: simulator_fault"):
        env.step(np.zeros((1, 2), np.float32))


def test_stable_baselines_own_questions_are_answered():
    env = DefendVecEnv(5, places=2, sampler=Sampler("train", 7))
    env.reset()
    assert env.blackouts == [7, 7]
    assert env.env_is_wrapped(SimpleNamespace) == [False, False] and env.render_mode is None
    assert env.get_attr("num_envs", [0]) == [2]
    with pytest.raises(NotImplementedError):
        env.set_attr("x", 1)
    with pytest.raises(NotImplementedError):
        env.env_method("x")
