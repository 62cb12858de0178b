"""How a training runs: the choices for each device, changes by name, and one thread for equal bits."""

import pytest

from blindsave.errors import BadInput
from blindsave.learning.distil import execution
from blindsave.learning.distil.execution import EVERYTHING, THREADS, execution_for, train_on_one_thread
from blindsave.policies.students import family


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    monkeypatch.setenv(THREADS, "1")


def test_a_cpu_trains_seeds_in_turn_and_a_gpu_together():
    cpu, gpu = (execution_for(family("gru_n64"), backend) for backend in ("cpu", "gpu"))
    assert (cpu.seeds, gpu.seeds) == ("in_turn", "together")
    assert gpu.evaluation_batch == EVERYTHING > cpu.evaluation_batch


def test_only_cores_whose_steps_combine_are_scanned_in_parallel():
    scans = {name: execution_for(family(name), "gpu").scan for name in ("structured_k0", "structured_k1", "lru_n32")}
    assert scans == {"structured_k0": "associative", "structured_k1": "sequential", "lru_n32": "associative"}


def test_time_is_not_cut_into_loops_where_there_is_no_loop():
    assert execution_for(family("feed_forward"), "cpu").segment == 1
    assert execution_for(family("gru_n64"), "cpu").segment > 1


def test_changes_are_made_by_name_and_unknown_ones_refused():
    assert execution_for(family("gru_n64"), "cpu", unroll=3).unroll == 3
    with pytest.raises(BadInput, match="an execution has no `speed`; it has seeds, segment"):
        execution_for(family("gru_n64"), "cpu", speed=9)


def test_jax_in_use_with_more_threads_is_warned_of_once(monkeypatch, capsys):
    import jax
    import jax.numpy as jnp

    jnp.zeros(1).block_until_ready()
    assert jax.default_backend() == "cpu"
    monkeypatch.delenv(THREADS)
    monkeypatch.setattr(execution, "_warned", [])
    train_on_one_thread()
    train_on_one_thread()
    assert capsys.readouterr().err.count("last bits may differ") == 1


def test_with_one_thread_there_is_nothing_to_say(monkeypatch, capsys):
    monkeypatch.setattr(execution, "_warned", [])
    train_on_one_thread()
    assert capsys.readouterr().err == ""
