"""Which trainer runs: C on a CPU, JAX on request, on an accelerator and for what C does not know."""

import pytest

from blindsave.learning.distil import choice
from blindsave.learning.distil.config import Recipe
from blindsave.learning.distil.execution import execution_for
from blindsave.learning.distil.jax_trainer import JaxTrainer
from blindsave.learning.distil.native import NativeTrainer, trains_natively
from blindsave.policies.students import Family, family
from blindsave.policies.students.structured import Structured
from blindsave.testing.training import random_episodes

SMALL, DATA, RECIPE = Family("small", Structured(1, 4)), random_episodes([3, 5] * 10), Recipe(epochs=1, batch=4)


@pytest.mark.skipif(not trains_natively(SMALL), reason="the trainer in C was not compiled")
def test_a_cpu_trains_in_c_unless_told_how_jax_shall_run(monkeypatch):
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    assert isinstance(choice.make_trainer(SMALL, DATA, [1], RECIPE), NativeTrainer)
    told = choice.make_trainer(SMALL, DATA, [1], RECIPE, execution_for(SMALL, "cpu", unroll=2))
    assert isinstance(told, JaxTrainer) and told.execution.unroll == 2


def test_an_accelerator_and_a_core_that_c_does_not_know_train_in_jax(monkeypatch):
    monkeypatch.setattr(choice, "accelerated", lambda: True)
    assert isinstance(choice.make_trainer(family("feed_forward"), DATA, [1], RECIPE), JaxTrainer)
    monkeypatch.setattr(choice, "accelerated", lambda: False)
    monkeypatch.setattr(choice, "trains_natively", lambda kind: False)
    assert isinstance(choice.make_trainer(family("feed_forward"), DATA, [1], RECIPE), JaxTrainer)


def test_jax_is_told_to_stay_on_the_cpu_by_its_own_variable(monkeypatch):
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    monkeypatch.setattr(choice, "DEVICE_FILES", ("null",))  # there is such a device file
    assert not choice.accelerated()


def test_without_a_device_file_jax_is_not_even_asked(monkeypatch):
    monkeypatch.delenv("JAX_PLATFORMS", raising=False)
    monkeypatch.setattr(choice, "DEVICE_FILES", ("no-such-device*",))
    monkeypatch.setattr("jax.default_backend", lambda: pytest.fail("JAX was asked"))
    assert not choice.accelerated()


@pytest.mark.parametrize(("backend", "found"), [("cpu", False), ("gpu", True)])
def test_with_a_device_file_jax_decides(monkeypatch, backend, found):
    monkeypatch.delenv("JAX_PLATFORMS", raising=False)
    monkeypatch.setattr(choice, "DEVICE_FILES", ("null",))
    monkeypatch.setattr("jax.default_backend", lambda: backend)
    assert choice.accelerated() is found
