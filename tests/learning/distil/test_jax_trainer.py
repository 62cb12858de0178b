"""The trainer in JAX: errors of whole parts, empty parts, and groups that hold every episode once."""

from dataclasses import replace

import numpy as np
import pytest

from blindsave.learning.distil.config import Recipe
from blindsave.learning.distil.execution import Execution
from blindsave.learning.distil.jax_trainer import JaxTrainer
from blindsave.learning.distil.state import fresh_state
from blindsave.policies import arithmetic
from blindsave.policies.students import Family
from blindsave.policies.students.feed_forward import FeedForward
from blindsave.policies.students.structured import Structured
from blindsave.testing.training import mean_error, random_episodes, step_by_step

pytestmark = pytest.mark.usefixtures("quick_compilation")

DATA, RECIPE = random_episodes([4, 7, 2, 9, 1] * 4), Recipe(batch=6, chunk=4)
HOW = Execution("in_turn", 4, 1, 3)


@pytest.mark.parametrize("family", [Family("plain", FeedForward()), Family("small", Structured(1, 3))])
def test_errors_are_those_of_the_steps_in_turn(family):
    trainer = JaxTrainer(family, DATA, [1, 2], RECIPE, HOW)
    params = fresh_state([family.init(1), family.init(2)]).params
    found = trainer.evaluate(params, "train")
    for seed, error in zip((1, 2), found, strict=True):
        actions = step_by_step(arithmetic, family, family.init(seed), DATA, RECIPE.chunk)
        assert error == pytest.approx(mean_error(DATA, actions, trainer.parts["train"]), rel=1e-4)


def test_an_empty_part_has_no_error():
    data = replace(DATA, index=np.where(DATA.index % 10 == 9, 0, DATA.index))
    trainer = JaxTrainer(Family("plain", FeedForward()), data, [1, 2, 3], RECIPE, HOW)
    found = trainer.evaluate(trainer.initial().params, "test")
    assert found.shape == (3,) and np.isnan(found).all()


def test_groups_hold_every_episode_of_the_part_once():
    trainer = JaxTrainer(Family("plain", FeedForward()), DATA, [1], RECIPE, HOW)
    layout, groups = trainer._groups("train")
    members = np.asarray(groups)
    assert sorted(members[members >= 0]) == trainer.parts["train"].tolist()
    assert layout.batch == members.shape[1] <= 3
