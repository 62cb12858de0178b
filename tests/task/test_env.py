import copy
import pickle
import re
import subprocess
import sys
import warnings
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from blindsave.errors import BadInput
from blindsave.task.env import DefendEnv
from blindsave.task.shots import shots

SHOT = shots("validation")[0]
PUBLIC = {"shot", "step", "visible", "locked"}


@pytest.fixture
def env():
    made = gymnasium.make("blindsave/Defend-v0", split="validation")
    yield made
    made.close()


def play(env, actions, **reset):
    """Observations, rewards and the last info of one episode."""
    obs, info = env.reset(**reset)
    seen, rewards = [obs], []
    for action in actions:
        obs, reward, terminated, truncated, info = env.step(action)
        seen.append(obs)
        rewards.append(reward)
        if terminated or truncated:
            break
    return np.array(seen), rewards, info


def random_actions(n, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, (n, 2)).astype(np.float32)


def test_gymnasium_finds_nothing_wrong():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make("blindsave/Defend-v0").unwrapped)


def test_the_same_seed_gives_the_same_bits(env):
    first = play(env, random_actions(60), seed=11)
    play(env, random_actions(60, 1))
    again = play(env, random_actions(60), seed=11)
    assert np.array_equal(first[0], again[0])
    assert first[1:] == again[1:]


def test_starts_differ_between_episodes(env):
    starts = {play(env, [], seed=3 if i == 0 else None)[2]["shot"] for i in range(8)}
    assert len(starts) > 4


def test_observations_are_finite_unshared_and_in_their_space(env):
    obs, _ = env.reset(seed=0)
    kept = obs.copy()
    for action in random_actions(30):
        new, *_ = env.step(action)
        assert new is not obs
        assert new in env.observation_space
        assert np.isfinite(new).all()
    assert np.array_equal(obs, kept)


def test_blackout_hides_its_interval_and_the_lock_holds_the_first_five(env):
    _, info = env.reset(options={"shot": SHOT.id, "blackout": 10})
    for step in range(20):
        assert info["step"] == step
        assert info["locked"] == (step < 5)
        assert info["visible"] == (not 5 <= step < 15)
        obs, _, _, _, info = env.step(np.array([0.5, -0.5], np.float32))
        assert obs[18] == float(info["visible"])


def test_info_never_tells_the_truth(env):
    _, info = env.reset(options={"shot": SHOT.id, "blackout": 20})
    assert set(info) == PUBLIC
    ended = False
    while not ended:
        _, _, terminated, truncated, info = env.step(np.array([-0.85, 0.0], np.float32))
        ended = terminated or truncated
        assert set(info) == (PUBLIC | {"outcome"} if ended else PUBLIC)
    assert info["outcome"] == "goal_conceded"
    truth = env.unwrapped.privileged_state()
    assert truth.shape == (4,)
    assert truth[0] - 1.51 < -0.974


def test_a_conceded_goal_terminates_and_costs_one(env):
    _, rewards, info = play(env, [np.array([-0.85, 0.0])] * 125, options={"shot": SHOT.id})
    assert info["outcome"] == "goal_conceded"
    assert sum(rewards) == pytest.approx(-1.0)


def test_the_clock_truncates(env):
    options = {"shot": (0.5, 0.3, -0.45, 0.0), "blackout": 0}
    obs, _ = env.reset(options=options)
    for step in range(1, 126):
        obs, reward, terminated, truncated, info = env.step(obs[14:16])
        assert reward == 0.0
        assert not terminated
        assert truncated == (step == 125)
    assert info["outcome"] == "timeout_without_contact"


@pytest.mark.parametrize(
    ("action", "fragment"), [([0.0] * 3, "shape"), ([[0.0, 0.0]], "shape"), ([np.nan, 0.0], "finite")]
)
def test_bad_actions_are_refused(env, action, fragment):
    env.reset(seed=0)
    with pytest.raises(BadInput, match=fragment):
        env.unwrapped.step(np.array(action, np.float32))


def test_stepping_a_finished_episode_is_refused(env):
    play(env, [np.array([-0.85, 0.0])] * 125, options={"shot": SHOT.id})
    with pytest.raises(BadInput, match="no running episode"):
        env.unwrapped.step(np.zeros(2, np.float32))


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [({"split": "nope"}, "no split"), ({"blackout": 300}, "does not fit"), ({"render_mode": "ascii"}, "render_mode")],
)
def test_bad_arguments_are_refused(arguments, fragment):
    with pytest.raises(BadInput, match=fragment):
        DefendEnv(**arguments)


def test_pictures_show_the_table_and_change_with_it():
    env = gymnasium.make("blindsave/Defend-v0", render_mode="rgb_array")
    env.reset(seed=0)
    first = env.render()
    for _ in range(10):
        env.step(np.zeros(2, np.float32))
    second = env.render()
    env.close()
    assert first.shape == second.shape
    assert first.dtype == np.uint8
    assert len(np.unique(first.reshape(-1, 3), axis=0)) > 5
    assert not np.array_equal(first, second)


def test_there_is_nothing_to_render_before_reset():
    with pytest.raises(BadInput, match="before the first reset"):
        DefendEnv(render_mode="rgb_array").render()


def test_human_mode_without_a_screen_says_so_once(monkeypatch, capsys):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    if not sys.platform.startswith("linux"):
        pytest.skip("screens are always assumed elsewhere")
    env = DefendEnv(render_mode="human")
    env.reset(seed=0)
    env.step(np.zeros(2, np.float32))
    env.close()
    assert capsys.readouterr().err.count("no screen") == 1


def test_importing_the_task_is_enough():
    code = "import blindsave.task, gymnasium; print(gymnasium.make('blindsave/Defend-v0').reset(seed=0)[0].shape)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "(19,)"


def test_stable_baselines_trains_unchanged():
    pytest.importorskip("stable_baselines3")
    from stable_baselines3 import PPO

    env = gymnasium.make("blindsave/Defend-v0")
    model = PPO("MlpPolicy", env, n_steps=64, batch_size=64, n_epochs=1, seed=0, device="cpu")
    before = [parameter.detach().clone() for parameter in model.policy.parameters()]
    model.learn(256)
    after = list(model.policy.parameters())
    assert any(not bool((a == b).all()) for a, b in zip(after, before, strict=True))


def test_the_documented_examples_run():
    page = (Path(__file__).parents[2] / "docs" / "task.md").read_text()
    examples = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(examples) == 2
    for example in examples:
        exec(compile(example, "docs/task.md", "exec"), {})


def test_the_module_prefix_needs_no_import_at_all():
    code = "import gymnasium; print(gymnasium.make('blindsave.task:blindsave/Defend-v0').reset(seed=0)[0].shape)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "(19,)"


@pytest.mark.parametrize("backend", ["native", "reference"])
@pytest.mark.parametrize("twin_of", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copied_or_pickled_environment_goes_on_bit_for_bit(backend, twin_of):
    env = gymnasium.make("blindsave/Defend-v0", split="validation", blackout={3: 0.5, 20: 0.5}, backend=backend)
    fresh = twin_of(env)
    env.reset(seed=3)
    assert np.array_equal(fresh.reset(seed=3)[0], env.reset(seed=3)[0])
    for action in np.linspace(-1, 1, 16, dtype=np.float32).reshape(8, 2):
        env.step(action)
    twin = twin_of(env)
    for action in np.linspace(1, -1, 16, dtype=np.float32).reshape(8, 2):
        ours, theirs = env.step(action), twin.step(action)
        assert np.array_equal(ours[0], theirs[0]) and ours[1:] == theirs[1:]
    assert np.array_equal(env.unwrapped.privileged_state(), twin.unwrapped.privileged_state())
    again, other = env.reset(), twin.reset()  # the generators go on alike, too
    assert np.array_equal(again[0], other[0]) and again[1] == other[1]
