import copy
import pickle

import gymnasium
import numpy as np
import pytest

from blindsave.errors import BadInput
from blindsave.task.env import DefendEnv
from blindsave.task.shots import shots
from blindsave.task.vector import DefendVectorEnv


def actions_for(n, steps, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, (steps, n, 2)).astype(np.float32)


def test_gymnasium_makes_it_through_its_vector_entry_point():
    env = gymnasium.make_vec("blindsave/Defend-v0", num_envs=3, split="validation", blackout=20)
    obs, info = env.reset(seed=0)
    assert obs in env.observation_space
    assert set(info) == {"shot", "step", "visible", "locked", "_shot", "_step", "_visible", "_locked"}
    assert isinstance(env.unwrapped, DefendVectorEnv)
    env.close()


def test_copies_equal_single_environments_episode_after_episode():
    n, steps = 3, 130
    many = DefendVectorEnv(n, split="validation", threads=2)
    ones = [DefendEnv(split="validation") for _ in range(n)]
    obs, _ = many.reset(seed=40)
    expected = [one.reset(seed=40 + i)[0] for i, one in enumerate(ones)]
    ended = [False] * n
    episodes = 0
    for actions in actions_for(n, steps):
        assert np.array_equal(obs, expected)
        obs, rewards, terminated, truncated, info = many.step(actions)
        for i, one in enumerate(ones):
            if ended[i]:
                expected[i], single = one.reset()
                reward, over = 0.0, (False, False)
                episodes += 1
            else:
                expected[i], reward, *over, single = one.step(actions[i])
            assert (rewards[i], terminated[i], truncated[i]) == (reward, *over)
            assert all(info[name][i] == value for name, value in single.items())
            ended[i] = any(over)
    assert episodes >= n


def test_the_next_step_after_an_end_starts_anew_and_ignores_the_action():
    env = DefendVectorEnv(2, split="validation")
    env.reset(options={"shot": shots("validation")[0].id, "blackout": 0})
    hold = np.tile(np.array([-0.85, 0.0], np.float32), (2, 1))
    for _ in range(125):
        _, rewards, terminated, _, info = env.step(hold)
        if terminated.any():
            break
    assert rewards.tolist() == [-1.0, -1.0]
    assert info["outcome"].tolist() == ["goal_conceded"] * 2
    obs, rewards, terminated, _, info = env.step(hold)
    assert rewards.tolist() == [0.0, 0.0]
    assert info["step"].tolist() == [0, 0]
    assert not terminated.any()
    assert "outcome" not in info
    assert obs[:, 18].tolist() == [1.0, 1.0]


def test_results_do_not_depend_on_threads():
    traces = []
    for threads in (1, 3):
        env = DefendVectorEnv(5, threads=threads)
        env.reset(seed=9)
        traces.append([env.step(actions)[0] for actions in actions_for(5, 60)])
    assert np.array_equal(*traces)


def test_observations_are_unshared_and_the_truth_needs_asking():
    env = DefendVectorEnv(2)
    obs, info = env.reset(seed=0)
    kept = obs.copy()
    env.step(np.zeros((2, 2), np.float32))
    assert np.array_equal(obs, kept)
    assert "truth" not in info
    assert env.privileged_state().shape == (2, 4)


def test_many_pictures():
    env = DefendVectorEnv(2, render_mode="rgb_array")
    env.reset(seed=0)
    frames = env.render()
    assert frames is not None
    assert len(frames) == 2
    assert DefendVectorEnv(1).render() is None


@pytest.mark.parametrize(
    ("act", "fragment"),
    [
        (lambda env: env.step(np.zeros((2, 2))), "before the first step"),
        (lambda env: env.step(np.zeros(2)), "shape"),
        (lambda env: env.reset(seed=[1, 2, 3]), "as many seeds"),
        (lambda env: (env.reset(), env.step(np.full((2, 2), np.nan))), "finite"),
        (lambda env: DefendVectorEnv(2, render_mode="human"), "rgb_array"),
    ],
)
def test_bad_input_is_refused(act, fragment):
    with pytest.raises(BadInput, match=fragment):
        act(DefendVectorEnv(2))


@pytest.mark.parametrize("twin_of", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copied_or_pickled_environments_go_on_bit_for_bit(twin_of):
    env = DefendVectorEnv(3, split="validation", threads=1)
    env.reset(seed=7)
    for action in actions_for(3, 40):
        env.step(action)
    twin = twin_of(env)
    for action in actions_for(3, 60, seed=1):  # long enough for episodes to end and others to begin
        ours, theirs = env.step(action), twin.step(action)
        assert all(np.array_equal(a, b) for a, b in zip(ours[:4], theirs[:4], strict=True))
        assert ours[4]["shot"].tolist() == theirs[4]["shot"].tolist()
