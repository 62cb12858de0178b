import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from blindsave.errors import BadInput
from blindsave.registration import REMEMBER_ID


def test_the_environment_passes_gymnasiums_own_checks():
    check_env(gymnasium.make(REMEMBER_ID).unwrapped, skip_render_check=True)


def test_the_arm_is_held_as_long_as_the_dial_says_and_the_puck_stays_hidden():
    env = gymnasium.make(REMEMBER_ID, hold=7, split="validation")
    _, info = env.reset(seed=3)
    seen = []
    while info["locked"]:
        seen.append(info["visible"])
        _, _, _, _, info = env.step(env.action_space.sample())
    assert seen == [True] * 5 + [False] * 7


def test_a_range_and_a_table_of_holds_are_drawn_from():
    def holds(hold):
        env, found = gymnasium.make(REMEMBER_ID, hold=hold), set()
        for seed in range(12):
            env.reset(seed=seed)
            found.add(env.unwrapped.episode.locked_steps - 5)
        return found

    assert holds((2, 3)) == {2, 3}
    assert holds({4: 0.5, 9: 0.5}) == {4, 9}


def test_many_environments_see_what_single_ones_see():
    many = gymnasium.make_vec(REMEMBER_ID, num_envs=2, hold=3)
    one = gymnasium.make(REMEMBER_ID, hold=3)
    together, _ = many.reset(seed=5)
    assert np.array_equal(together[1], one.reset(seed=6)[0])


@pytest.mark.parametrize("hold", [(3, 1), (1, 2, 3), 2.5, -1, 200])
def test_a_hold_that_cannot_be_is_refused_in_one_sentence(hold):
    with pytest.raises(BadInput):
        gymnasium.make(REMEMBER_ID, hold=hold)
