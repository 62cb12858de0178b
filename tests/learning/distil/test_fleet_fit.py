"""Checkpoints of fleets: each dataset's is that of a training alone, and a kill changes no bit."""

import time
from dataclasses import replace

import numpy as np
import pytest

from blindsave import tensors
from blindsave.errors import BadFile
from blindsave.learning.distil import fleet_fit, fleet_trainer
from blindsave.learning.distil.config import Recipe
from blindsave.learning.distil.deadline import OutOfTime
from blindsave.learning.distil.execution import Execution
from blindsave.learning.distil.fit import fit
from blindsave.learning.distil.fleet_fit import fit_together
from blindsave.learning.distil.fleet_trainer import FleetTrainer
from blindsave.learning.distil.training_set import TrainingSet
from blindsave.policies.students import Family
from blindsave.policies.students.structured import Structured
from blindsave.testing.training import random_episodes

pytestmark = pytest.mark.usefixtures("quick_compilation")

SMALL = Family("small", Structured(1, 3))
RECIPE = Recipe(epochs=6, batch=24, chunk=4, patience=9)
HOW = Execution("in_turn", 2, 1, 30)
PAIR = {"one": (1, 2), "other": (2, 3, 4)}


class KilledError(Exception):
    pass


@pytest.fixture(scope="module", autouse=True)
def changing_layouts():
    """Little is looked at beforehand, so that epochs differ in their layouts, which decide the last bits."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fleet_trainer, "SAMPLED", 1)
        patch.setattr(fleet_trainer, "ROOM", 1)
        yield


def sets(folder=None):
    """Two datasets of 120 episodes, with checkpoints in a folder."""
    lengths = np.random.default_rng(5).integers(1, 13, (2, 120))
    return [
        TrainingSet(random_episodes(own, seed=i), seeds, name, folder and folder / f"{name}.safetensors")
        for i, (own, (name, seeds)) in enumerate(zip(lengths, PAIR.items(), strict=True))
    ]


@pytest.fixture(scope="module")
def whole():
    """The fleet that nobody killed."""
    return fit_together(SMALL, sets(), recipe=RECIPE, execution=HOW)


@pytest.fixture
def epochs_run(monkeypatch):
    """The numbers of the epochs that are computed."""
    numbers, run = [], FleetTrainer.run_epoch

    def counted(trainer, state, epoch):
        numbers.append(epoch)
        return run(trainer, state, epoch)

    monkeypatch.setattr(FleetTrainer, "run_epoch", counted)
    return numbers


def killed_after(last):
    def report(epoch, history, stopped):
        if epoch == last:
            raise KilledError

    return report


def assert_same_bytes(found, expected, folder):
    for one, other in zip(found, expected, strict=True):
        for name in ("train_loss", "validation_loss", "gradient_norm"):
            assert getattr(one.history, name).tobytes() == getattr(other.history, name).tobytes()
        for a, b in zip(one.students, other.students, strict=True):
            a.save(folder / "a.safetensors")
            b.save(folder / "b.safetensors")
            assert (folder / "a.safetensors").read_bytes() == (folder / "b.safetensors").read_bytes()


def test_an_epoch_of_these_tests_needs_a_wider_layout_than_those_after_it():
    trainer = FleetTrainer(SMALL, sets(), RECIPE, HOW)
    rows = [trainer._layout(trainer._envelope(epoch)).rows for epoch in range(1, RECIPE.epochs + 1)]
    assert rows[3] > rows[0] == rows[4] == rows[5]


@pytest.mark.parametrize("last", [3, 4])
def test_a_killed_and_continued_fleet_gives_the_bytes_of_an_uninterrupted_one(whole, tmp_path, epochs_run, last):
    options = {"recipe": RECIPE, "execution": HOW, "checkpoint_every": 2}
    with pytest.raises(KilledError):
        fit_together(SMALL, sets(tmp_path), **options, report=killed_after(last))
    epochs_run.clear()
    found = fit_together(SMALL, sets(tmp_path), **options)
    assert epochs_run == list(range(last // 2 * 2 + 1, 7))
    assert_same_bytes(found, whole, tmp_path)


def test_a_kill_between_two_checkpoints_changes_no_bit_either(whole, tmp_path, epochs_run, monkeypatch):
    """One dataset's checkpoint is of epoch 4 then, the other's of epoch 2, which has to catch up."""
    save, saved = fleet_fit.save_checkpoint, []

    def killed(path, *content):
        if len(saved) == 3:
            raise KilledError
        saved.append(path.stem)
        save(path, *content)

    monkeypatch.setattr(fleet_fit, "save_checkpoint", killed)
    with pytest.raises(KilledError):
        fit_together(SMALL, sets(tmp_path), recipe=RECIPE, execution=HOW, checkpoint_every=2)
    assert saved == ["one", "other", "one"]
    monkeypatch.setattr(fleet_fit, "save_checkpoint", save)
    epochs_run.clear()
    assert_same_bytes(fit_together(SMALL, sets(tmp_path), recipe=RECIPE, execution=HOW), whole, tmp_path)
    assert epochs_run == [3, 4, 5, 6]


def test_a_checkpoint_is_that_of_a_training_alone(tmp_path):
    with pytest.raises(KilledError):
        fit_together(SMALL, sets(tmp_path), recipe=RECIPE, execution=HOW, report=killed_after(2))
    for one in sets(tmp_path):
        alone = tmp_path / "alone.safetensors"
        options = {"seeds": one.seeds, "recipe": RECIPE, "dataset": one.dataset, "checkpoint": alone}
        with pytest.raises(KilledError):
            fit(SMALL, one.data, execution=HOW, report=killed_after(2), **options)
        (mine, said), (other, expected) = tensors.read(one.checkpoint), tensors.read(alone)
        alone.unlink()
        assert said["identity"] == expected["identity"] and said.keys() == expected.keys()
        assert mine.keys() == other.keys()
        for name in mine.keys() - {"history.seconds"}:
            assert mine[name].dtype == other[name].dtype
            np.testing.assert_allclose(mine[name], other[name], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("how", [None, HOW], ids=["in C", "in JAX"])
def test_a_training_alone_goes_on_where_a_fleet_was_killed(whole, tmp_path, how):
    with pytest.raises(KilledError):
        fit_together(SMALL, sets(tmp_path), recipe=RECIPE, execution=HOW, report=killed_after(4))
    for one, expected in zip(sets(tmp_path), whole, strict=True):
        told = []
        found = fit(
            SMALL,
            one.data,
            seeds=one.seeds,
            recipe=RECIPE,
            dataset=one.dataset,
            execution=how,
            checkpoint=one.checkpoint,
            report=lambda epoch, history, stopped, told=told: told.append(epoch),
        )
        assert told == [5, 6]
        assert np.array_equal(found.history.train_loss[:4], expected.history.train_loss[:4])
        np.testing.assert_allclose(found.history.train_loss, expected.history.train_loss, rtol=1e-4)


@pytest.mark.parametrize("how", [None, HOW], ids=["in C", "in JAX"])
def test_a_fleet_goes_on_where_one_of_its_trainings_stopped_alone(whole, tmp_path, epochs_run, how):
    _, other = sets(tmp_path)
    options = {"seeds": other.seeds, "recipe": RECIPE, "dataset": other.dataset, "checkpoint": other.checkpoint}
    with pytest.raises(KilledError):
        fit(SMALL, other.data, execution=how, report=killed_after(4), **options)
    before = tensors.read(other.checkpoint)[0]["history.train_loss"]
    one, found = fit_together(SMALL, sets(tmp_path), recipe=RECIPE, execution=HOW)
    assert epochs_run == [1, 2, 3, 4, 5, 6]
    assert np.array_equal(found.history.train_loss[:4], before) and len(found.history) == 6
    np.testing.assert_allclose(found.history.train_loss, whole[1].history.train_loss, rtol=1e-4)
    assert found.students[0].provenance.notes["updates"] == 6 * 4  # 96 training episodes in batches of 24
    assert_same_bytes([one], whole[:1], tmp_path)


def test_a_dataset_whose_seeds_have_stopped_keeps_its_own_epochs(tmp_path, epochs_run):
    """Alone it would have ended there; the other goes on, is killed and continued."""

    def unequal(folder):
        scaled = zip(sets(folder), (0, 10), strict=True)
        return [replace(one, data=replace(one.data, label=by * one.data.label)) for one, by in scaled]

    recipe = replace(RECIPE, patience=1, improvement=0.05, learning_rate=1e-2)
    expected = fit_together(SMALL, unequal(None), recipe=recipe, execution=HOW)
    first, second = (len(one.history) for one in expected)
    assert first < second - 1
    with pytest.raises(KilledError):
        fit_together(SMALL, unequal(tmp_path), recipe=recipe, execution=HOW, report=killed_after(first + 1))
    assert len(tensors.read(tmp_path / "one.safetensors")[0]["history.seconds"]) == first
    epochs_run.clear()
    assert_same_bytes(fit_together(SMALL, unequal(tmp_path), recipe=recipe, execution=HOW), expected, tmp_path)
    assert epochs_run == list(range(first + 2, second + 1))


def test_what_is_trained_is_not_trained_again_after_a_kill_at_the_end(whole, tmp_path, epochs_run):
    """Six epochs are no multiple of five: the end is kept all the same."""
    fit_together(SMALL, sets(tmp_path), recipe=RECIPE, execution=HOW, checkpoint_every=5)
    epochs_run.clear()
    assert_same_bytes(fit_together(SMALL, sets(tmp_path), recipe=RECIPE, execution=HOW), whole, tmp_path)
    assert epochs_run == []


def test_after_the_deadline_every_dataset_is_kept_for_the_next_call(tmp_path):
    with pytest.raises(OutOfTime, match="run the same command again"):
        fit_together(SMALL, sets(tmp_path), recipe=RECIPE, execution=HOW, deadline=time.monotonic() - 1)
    assert all(one.checkpoint.exists() for one in sets(tmp_path))


def test_a_checkpoint_of_another_training_is_refused(tmp_path):
    with pytest.raises(KilledError):
        fit_together(SMALL, sets(tmp_path), recipe=RECIPE, execution=HOW, report=killed_after(1))
    (tmp_path / "one.safetensors").rename(tmp_path / "other.safetensors")
    with pytest.raises(BadFile, match=r"other\.safetensors belongs to another training"):
        fit_together(SMALL, sets(tmp_path), recipe=RECIPE, execution=HOW)
