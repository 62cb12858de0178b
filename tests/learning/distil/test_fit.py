import dataclasses
import time

import numpy as np
import pytest

from blindsave.errors import BadFile, BadInput
from blindsave.learning.distil.config import Recipe
from blindsave.learning.distil.deadline import OutOfTime
from blindsave.learning.distil.execution import execution_for
from blindsave.learning.distil.fit import DivergedError, fit
from blindsave.learning.distil.history import read_lines
from blindsave.policies.students import Family, family
from blindsave.policies.students.structured import Structured
from blindsave.testing.training import random_episodes

pytestmark = pytest.mark.usefixtures("quick_compilation")

SMALL = Family("small", Structured(rank=1, width=6))
RECIPE = Recipe(epochs=4, batch=7, chunk=16, patience=9)
SEEDS = (14303, 14304)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return random_episodes(rng.integers(3, 17, 40))


@pytest.fixture(scope="module")
def fitted(data):
    return fit(SMALL, data, seeds=SEEDS, recipe=RECIPE, dataset="d")


def parameters(fitted):
    return [np.concatenate([v.ravel() for _, v in sorted(s.parameters.items())]) for s in fitted.students]


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(parameters(a), parameters(b), strict=True))


def test_training_lowers_the_error_and_keeps_the_best_epoch(fitted):
    errors = fitted.history.validation_loss
    assert (errors[-1] < errors[0]).all()
    for s, student in enumerate(fitted.students):
        assert student.provenance.selected_epoch == int(errors[:, s].argmin()) + 1
        assert student.provenance.validation_mse == float(errors[:, s].min())
        assert student.provenance.seed == SEEDS[s] and student.provenance.dataset == "d"
        assert student.provenance.notes["updates"] == 4 * 5  # 32 training episodes in batches of 7


def test_two_runs_give_equal_bits(data, fitted):
    again = fit(SMALL, data, seeds=SEEDS, recipe=RECIPE, dataset="d")
    assert same(fitted, again)
    assert np.array_equal(fitted.history.validation_loss, again.history.validation_loss)


def test_a_killed_and_continued_run_equals_an_uninterrupted_one(data, fitted, tmp_path):
    checkpoint = tmp_path / "checkpoint.safetensors"

    class KilledError(Exception):
        pass

    def kill(epoch, history, stopped):
        if epoch == 2:
            raise KilledError

    with pytest.raises(KilledError):
        fit(SMALL, data, seeds=SEEDS, recipe=RECIPE, dataset="d", checkpoint=checkpoint, report=kill)
    resumed = fit(SMALL, data, seeds=SEEDS, recipe=RECIPE, dataset="d", checkpoint=checkpoint)
    assert same(fitted, resumed)
    for name in ("train_loss", "validation_loss", "gradient_norm"):
        assert np.array_equal(getattr(fitted.history, name), getattr(resumed.history, name))
    with pytest.raises(BadFile, match="another training"):
        fit(SMALL, data, seeds=SEEDS, recipe=RECIPE, dataset="other", checkpoint=checkpoint)
    checkpoint.write_bytes(checkpoint.read_bytes()[:-9])
    with pytest.raises(BadFile, match="not a whole safetensors file"):
        fit(SMALL, data, seeds=SEEDS, recipe=RECIPE, dataset="d", checkpoint=checkpoint)


def test_after_the_deadline_the_work_is_kept_for_the_next_call(data, tmp_path):
    checkpoint = tmp_path / "checkpoint.safetensors"
    with pytest.raises(OutOfTime, match="run the same command again"):
        fit(SMALL, data, seeds=SEEDS, recipe=RECIPE, checkpoint=checkpoint, deadline=time.monotonic() - 1)
    assert checkpoint.exists()


def test_seeds_together_and_in_turn_agree(data, fitted):
    execution = dataclasses.replace(execution_for(SMALL), seeds="together", segment=16, unroll=4)
    together = fit(SMALL, data, seeds=SEEDS, recipe=RECIPE, execution=execution)
    for a, b in zip(parameters(fitted), parameters(together), strict=True):
        np.testing.assert_allclose(a, b, atol=2e-5)


@pytest.mark.parametrize("seeds", ["in_turn", "together"])
def test_a_seed_without_improvement_stops_and_stays_as_it_was(data, seeds):
    kind = family("feed_forward")
    recipe = Recipe(epochs=9, batch=8, patience=2, improvement=10.0)  # the first epoch improves on infinity, no other
    execution = dataclasses.replace(execution_for(kind), seeds=seeds)
    fitted = fit(kind, data, seeds=SEEDS, recipe=recipe, execution=execution)
    assert len(fitted.history) == 3
    assert [s.provenance.selected_epoch for s in fitted.students] == [1, 1]
    once = fit(kind, data, seeds=SEEDS, recipe=dataclasses.replace(recipe, epochs=1), execution=execution)
    for a, b in zip(parameters(fitted), parameters(once), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)


def test_a_loss_that_is_no_number_is_reported_by_seed_and_epoch(data):
    broken = dataclasses.replace(data, label=np.full_like(data.label, np.nan))
    with pytest.raises(DivergedError, match=r"feed_forward, seed 14303: .* epoch 1"):
        fit(family("feed_forward"), broken, seeds=SEEDS, recipe=Recipe(epochs=2))


def test_data_without_validation_episodes_is_refused():
    with pytest.raises(BadInput, match="no validation episodes"):
        fit(SMALL, random_episodes([3] * 8), seeds=(1,))


def test_metrics_are_one_line_per_epoch_and_seed(fitted, tmp_path):
    (tmp_path / "m.jsonl").write_text(fitted.history.lines(SEEDS))
    rows = read_lines(tmp_path / "m.jsonl")
    assert [(r["epoch"], r["seed"]) for r in rows] == [(e, s) for e in (1, 2, 3, 4) for s in SEEDS]
    assert rows[-1]["validation_loss"] == float(fitted.history.validation_loss[-1, -1])


@pytest.mark.parametrize("name", ["structured_k2", "gru_n64"])
def test_our_updates_are_those_of_plain_pytorch(name):
    torch_bench = pytest.importorskip("blindsave.bench.students_torch")
    from blindsave.learning.distil.jax_trainer import JaxTrainer

    kind, recipe = family(name), Recipe(epochs=1, batch=10, chunk=64)
    mixed = random_episodes([3, 70, 12, 66, 5, 9, 64, 65, 2, 11])
    ours = JaxTrainer(kind, mixed, (14303,), recipe, dataclasses.replace(execution_for(kind), segment=64))
    plain = torch_bench.TorchTrainer(kind, mixed, (14303,), recipe)
    batch = ours.batches(1)[0, 0]
    state, metrics = ours.run_epoch(ours.initial(), 1)
    loss = plain.update(0, batch[batch >= 0])
    np.testing.assert_allclose(metrics.train_loss[0], loss, rtol=1e-5)
    np.testing.assert_allclose(
        state.params["encoder.0.weight"][0], plain.students[0].layers[0].weight.detach().numpy(), atol=1e-6
    )
    core = "core.U" if name != "gru_n64" else "core.W_hh"
    own = plain.students[0].own["U"] if name != "gru_n64" else plain.students[0].gru.weight_hh_l0
    np.testing.assert_allclose(state.params[core][0], own.detach().numpy(), atol=1e-6)
