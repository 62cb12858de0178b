"""An agent at play: modes, seeds, and the place of the first step."""

import numpy as np
import pytest
from dreamer_cases import SMALL, random_params

from blindsave.errors import BadInput
from blindsave.learning.dreamer.acting import Acting
from blindsave.learning.dreamer.config import Config

pytestmark = pytest.mark.usefixtures("quick_compilation")

CONFIG, PARAMS = Config(SMALL), random_params(SMALL, 1)
SEEN = np.random.default_rng(0).normal(size=(3, 2, SMALL.observation)).astype(np.float32)


def play(acting: Acting, seen=SEEN) -> np.ndarray:
    carry, actions = acting.initial(seen.shape[1]), []
    for observation in seen:
        carry, action = acting.step(carry, observation)
        actions.append(action)
    return np.stack(actions)


def test_a_deterministic_agent_repeats_itself_and_a_sampled_one_follows_its_seed():
    certain = play(Acting(PARAMS, CONFIG))
    np.testing.assert_array_equal(certain, play(Acting(PARAMS, CONFIG, seed=9)))
    sampled = play(Acting(PARAMS, CONFIG, "sampled", 3))
    np.testing.assert_array_equal(sampled, play(Acting(PARAMS, CONFIG, "sampled", 3)))
    assert not np.array_equal(sampled, play(Acting(PARAMS, CONFIG, "sampled", 4)))
    assert not np.array_equal(sampled, certain)
    assert certain.shape == (3, 2, SMALL.action)


def test_every_step_of_a_sampled_episode_draws_anew():
    still = np.zeros((1, 2, SMALL.observation), np.float32)
    first = [play(Acting(PARAMS, CONFIG, "sampled", 3), still)[0] for _ in range(2)]
    np.testing.assert_array_equal(*first)
    assert not np.array_equal(first[0][0], first[0][1]), "rows are different draws"


def test_the_past_counts_and_a_fresh_episode_has_none():
    acting = Acting(PARAMS, CONFIG)
    whole = play(acting)
    np.testing.assert_array_equal(play(acting, SEEN[:1])[0], whole[0])
    assert not np.allclose(play(acting, SEEN[2:])[0], whole[2])


def test_the_carry_is_not_changed_by_a_step():
    acting = Acting(PARAMS, CONFIG)
    carry = acting.initial(2)
    one = acting.step(carry, SEEN[0])[1]
    np.testing.assert_array_equal(one, acting.step(carry, SEEN[0])[1])
    assert carry[0] == 0


def test_an_unknown_mode_is_refused_with_the_known_ones():
    with pytest.raises(BadInput, match="mode must be one of deterministic, sampled, got 'greedy'"):
        Acting(PARAMS, CONFIG, "greedy")  # pyright: ignore[reportArgumentType]
