"""Several datasets in one program: every lane is what it would be alone."""

from dataclasses import replace

import numpy as np
import pytest

from blindsave.errors import BadInput
from blindsave.learning.distil import fleet_trainer
from blindsave.learning.distil.config import Recipe
from blindsave.learning.distil.execution import Execution
from blindsave.learning.distil.fit import fit
from blindsave.learning.distil.fleet_fit import fit_together
from blindsave.learning.distil.fleet_trainer import FleetTrainer
from blindsave.learning.distil.training_set import TrainingSet
from blindsave.policies.students import Family
from blindsave.policies.students.feed_forward import FeedForward
from blindsave.policies.students.gru import GRU
from blindsave.policies.students.structured import Structured
from blindsave.testing.training import random_episodes

pytestmark = pytest.mark.usefixtures("quick_compilation")

RECIPE = Recipe(epochs=3, batch=6, chunk=4, patience=9)
HOW = Execution("together", 4, 1, 3)
FAMILIES = [Family("plain", FeedForward()), Family("small", Structured(1, 3)), Family("gated", GRU(3))]


def sets():
    lengths = np.random.default_rng(1).integers(1, 12, (2, 30))
    one, other = (random_episodes(own, seed=i) for i, own in enumerate(lengths))
    return [TrainingSet(one, (1, 2), "one"), TrainingSet(other, (2, 3, 4), "other")]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_every_lane_is_what_it_would_be_alone(family):
    wanted = sets()
    found = fit_together(family, wanted, recipe=RECIPE, execution=HOW)
    for one, together in zip(wanted, found, strict=True):
        alone = fit(family, one.data, seeds=one.seeds, recipe=RECIPE, dataset=one.dataset, execution=HOW)
        np.testing.assert_allclose(together.history.train_loss, alone.history.train_loss, rtol=1e-5)
        np.testing.assert_allclose(together.history.validation_loss, alone.history.validation_loss, rtol=1e-5)
        np.testing.assert_allclose(together.test_mse, alone.test_mse, rtol=1e-5)
        for a, b in zip(together.students, alone.students, strict=True):
            assert a.provenance.seed == b.provenance.seed and a.provenance.notes["episodes"] == len(one.data)
            assert a.provenance.dataset == one.dataset
            for name, value in b.parameters.items():
                np.testing.assert_allclose(a.parameters[name], value, atol=1e-5)


def test_lanes_of_one_seed_on_other_episodes_differ():
    found = fit_together(FAMILIES[0], sets(), recipe=RECIPE, execution=HOW)
    own = {name: found[0].students[1].parameters[name] for name in found[0].students[1].parameters}
    assert found[0].students[1].provenance.seed == found[1].students[0].provenance.seed == 2
    assert any(not np.array_equal(own[name], found[1].students[0].parameters[name]) for name in own)


def test_a_layout_that_is_too_small_is_widened(monkeypatch):
    """Only some epochs are looked at beforehand; a batch that does not fit must cost a compilation, never a step."""
    monkeypatch.setattr(fleet_trainer, "SAMPLED", 1)
    monkeypatch.setattr(fleet_trainer, "ROOM", 1)
    one = TrainingSet(random_episodes(np.where(np.arange(240) % 9 == 0, 12, 2)), (2,))
    family, long = FAMILIES[1], replace(RECIPE, epochs=8, batch=48)
    trainer = FleetTrainer(family, [one], long, HOW)
    first = trainer.setting.layout
    assert not all(first.holds(trainer._envelope(epoch)) for epoch in range(1, 9))
    (together,) = fit_together(family, [one], recipe=long, execution=HOW)
    alone = fit(family, one.data, seeds=one.seeds, recipe=long, execution=HOW)
    np.testing.assert_allclose(together.history.train_loss, alone.history.train_loss, rtol=1e-5)


def test_datasets_of_different_sizes_are_refused():
    pair = [TrainingSet(random_episodes([3] * 20), (1,)), TrainingSet(random_episodes([3] * 30), (1,))]
    with pytest.raises(BadInput, match="equally many episodes"):
        FleetTrainer(FAMILIES[0], pair, RECIPE, HOW)
