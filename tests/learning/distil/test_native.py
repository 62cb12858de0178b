"""The native trainer against JAX, against itself on other vector units and threads, and against bad input."""

from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
import pytest
from family_kinds import ATTENTION, PLAIN

from blindsave.errors import BadInput
from blindsave.learning.distil import native
from blindsave.learning.distil.choice import make_trainer
from blindsave.learning.distil.config import Recipe
from blindsave.learning.distil.execution import execution_for
from blindsave.learning.distil.fit import fit
from blindsave.learning.distil.graph import training_graph
from blindsave.learning.distil.jax_trainer import JaxTrainer
from blindsave.learning.distil.layout import batches, envelope, make_layout
from blindsave.learning.distil.model import batch_loss, make_table
from blindsave.learning.distil.native import NativeTrainer, trains_natively
from blindsave.policies.students import Family
from blindsave.policies.students.core import MemoryCore
from blindsave.policies.students.gru import GRU
from blindsave.policies.students.registry import family
from blindsave.policies.students.structured import Structured
from blindsave.policies.trace import UnknownOperation
from blindsave.testing import contract
from blindsave.testing.training import random_episodes

pytestmark = pytest.mark.usefixtures("quick_compilation")

core = pytest.importorskip("blindsave.learning._trainer")

CHUNK = 16
LENGTHS = [3, 40, 12, 33, 16, 17, 32, 1, 9, 20] * 4
"""Shorter and longer than one chunk and than two, and more episodes than one block holds."""
SEEDS = (14303, 14304, 14305)
ODD = (
    Family("odd_structured", Structured(rank=3, width=10)),
    Family("odd_gru", GRU(width=5)),
)


@pytest.fixture(scope="module")
def data():
    return random_episodes(LENGTHS)


def native_gradient(kind: Family, data, order, path="") -> tuple[float, np.ndarray]:
    trainer = NativeTrainer(kind, data, SEEDS[:1], Recipe(batch=len(order)))
    flat = trainer.graph.flat(kind.init(SEEDS[0]))
    gradient = np.zeros_like(flat)
    loss = core.gradient(path, trainer.graph.description, *trainer._table, CHUNK, order, flat, gradient)
    return loss, gradient


@pytest.mark.parametrize("kind", [*map(family, PLAIN), *ODD], ids=lambda kind: kind.name)
def test_loss_and_gradient_are_those_of_jax(kind, data):
    lengths = data.steps.astype(np.int64)
    order = batches(np.arange(len(data)), lengths, len(data))[0]
    layout = make_layout(envelope([order[None]], lengths), CHUNK, 8)
    table, execution = make_table(kind, data), execution_for(kind)

    def loss(params):
        total, count = batch_loss(kind, params, table, layout, order, CHUNK, execution)
        return total / count

    expected, slopes = jax.value_and_grad(loss)(kind.init(SEEDS[0]))
    found, gradient = native_gradient(kind, data, order)
    assert found == pytest.approx(float(expected), rel=1e-5)
    for name, slope in training_graph(kind).named(gradient).items():
        np.testing.assert_allclose(slope, slopes[name], rtol=2e-3, atol=2e-6 * np.abs(gradient).max() + 1e-7)


def test_attention_is_left_to_jax():
    assert not trains_natively(family(ATTENTION))


@pytest.mark.parametrize("name", ["feed_forward", "structured_k2", "gru_n64", "lru_n32"])
def test_every_vector_unit_gives_the_same_gradient(name, data):
    order = batches(np.arange(len(data)), data.steps.astype(np.int64), len(data))[0]
    found = {path: native_gradient(family(name), data, order, path)[1] for path in core.paths()}
    first, *others = found.items()
    for path, gradient in others:
        if path == "plain":  # cannot fuse multiply and add on every processor
            np.testing.assert_allclose(gradient, first[1], atol=1e-5 * np.abs(gradient).max())
        else:
            assert np.array_equal(gradient, first[1]), path


def test_the_number_of_threads_changes_nothing(data):
    recipe = Recipe(epochs=3, batch=8, chunk=CHUNK)
    ends = []
    for threads in (1, 3):
        trainer = NativeTrainer(family("structured_k1"), data, SEEDS, recipe, threads=threads)
        state = trainer.initial()
        for epoch in (1, 2, 3):
            state, metrics = trainer.run_epoch(state, epoch)
        ends.append(np.concatenate([leaf.ravel() for leaf in [*state.params.values(), *metrics]]))
    assert np.array_equal(ends[0], ends[1])


@pytest.mark.parametrize("name", ["finite_stack_10", "structured_k2", "gru_n64"])
def test_a_native_training_ends_where_jax_ends(name, data):
    recipe = Recipe(epochs=3, batch=8, chunk=CHUNK)
    ours = fit(family(name), data, seeds=SEEDS[:2], recipe=recipe)
    jaxs = fit(family(name), data, seeds=SEEDS[:2], recipe=recipe, execution=execution_for(family(name)))
    for field in ("train_loss", "validation_loss", "gradient_norm"):
        np.testing.assert_allclose(getattr(ours.history, field), getattr(jaxs.history, field), rtol=2e-4)
    np.testing.assert_allclose(ours.test_mse, jaxs.test_mse, rtol=2e-4)


@dataclass(frozen=True)
class Clipped(MemoryCore):
    """A core with an operation the native trainer does not know."""

    @property
    def memory(self) -> int:
        return 3

    def advance(self, ops: Any, p: Any, memory: Any, drive: tuple[Any, ...]) -> Any:
        return ops.minimum(memory + drive[0][..., :3], 1.0)


@dataclass(frozen=True)
class Everything(MemoryCore):
    """Every operation the native trainer knows, on rows, on parameters and on plain arrays and numbers."""

    @property
    def memory(self) -> int:
        return 4

    def init(self, rng, seed):
        vectors = {"d": np.full(4, 0.3, np.float32), "e": np.float32([0.2, 0.4])}
        return {"W": rng.normal(0, 0.2, (8, 34)).astype(np.float32), **vectors}

    def drive(self, ops: Any, p: Any, code: Any, action: Any) -> tuple[Any, ...]:
        both = ops.linear(ops.concat(code, action), p["W"])
        fixed = np.float32([1.0, 2.0])
        decay = ops.sqrt(ops.exp(p["d"]) + 1.0) / ops.log(3.0 + ops.concat(p["e"], fixed))
        return decay, both[..., :4], ops.concat(p["e"], action), ops.concat(fixed, -action), both[..., 4:]

    def advance(self, ops: Any, p: Any, memory: Any, drive: tuple[Any, ...]) -> Any:
        decay, push, told, against, gate = drive
        kept = (memory + push) / (decay + ops.exp(ops.sigmoid(gate)))
        return (ops.concat(kept, against) - 0.5)[..., :4] + ops.silu(push) * told


@dataclass(frozen=True)
class Transposed(MemoryCore):
    """A core that treats a parameter as an array."""

    @property
    def memory(self) -> int:
        return 3

    def init(self, rng, seed):
        return {"W": rng.normal(0, 0.1, (32, 3)).astype(np.float32)}

    def drive(self, ops: Any, p: Any, code: Any, action: Any) -> tuple[Any, ...]:
        return (ops.linear(code, p["W"].T),)

    def advance(self, ops: Any, p: Any, memory: Any, drive: tuple[Any, ...]) -> Any:
        return 0.9 * memory + drive[0]


def test_every_operation_it_knows_trains_as_the_steps_say():
    kind = Family("everything", Everything())
    assert trains_natively(kind)
    contract.check_training_equals_steps(kind)
    contract.check_gradients(kind)


def test_a_core_that_treats_parameters_as_arrays_is_trained_with_jax(data):
    kind = Family("transposed", Transposed())
    with pytest.raises(UnknownOperation, match="cannot follow transposed"):
        training_graph(kind)
    assert isinstance(make_trainer(kind, data, SEEDS, Recipe(batch=8)), JaxTrainer)


def test_a_memory_that_forgets_everything_is_not_for_it():
    class Constant(Clipped):
        def init(self, rng, seed):
            return {"v": np.ones(3, np.float32)}

        def advance(self, ops, p, memory, drive):
            return ops.tanh(p["v"])

    with pytest.raises(UnknownOperation, match="same in every episode"):
        training_graph(Family("constant", Constant()))


def test_what_it_does_not_know_is_trained_with_jax(data, monkeypatch):
    clipped, recipe = Family("clipped", Clipped()), Recipe(epochs=1, batch=8)
    with pytest.raises(UnknownOperation, match="minimum"):
        training_graph(clipped)
    assert isinstance(make_trainer(clipped, data, SEEDS, recipe), JaxTrainer)
    assert np.isfinite(fit(clipped, data, seeds=SEEDS[:1], recipe=recipe).history.train_loss).all()
    assert isinstance(make_trainer(family("gru_n64"), data, SEEDS, recipe), NativeTrainer)
    monkeypatch.setattr(native, "core", None)
    assert not trains_natively(family("gru_n64"))
    assert isinstance(make_trainer(family("gru_n64"), data, SEEDS, recipe), JaxTrainer)


def test_bad_batches_and_arrays_are_refused(data):
    trainer = NativeTrainer(family("feed_forward"), data, SEEDS, Recipe())
    flat = trainer.graph.flat(family("feed_forward").init(1))

    def evaluate(order, parameters: Any = flat, path="", graph=trainer.graph.description):
        return core.evaluate(path, graph, *trainer._table, np.asarray(order, np.int32), parameters)

    assert evaluate([1, 0]) > 0
    for order in ([0, 1], [len(data)], [-2], [-1], [1, -1, 0]):
        with pytest.raises(BadInput, match="longest first"):
            evaluate(order)
    with pytest.raises(BadInput, match=r"parameters must hold 5602"):
        evaluate([1], flat[:-1].copy())
    with pytest.raises(BadInput, match="format f"):
        evaluate([1], flat.astype(np.float64))
    with pytest.raises(BadInput, match="cannot train by `abacus`"):
        evaluate([1], path="abacus")
    with pytest.raises(BadInput, match="not one this trainer"):
        evaluate([1], graph=trainer.graph.description[:-1].copy())
