"""The bench of the arena: what is timed, and that ratios are those of the figures beside them."""

import numpy as np
import pytest

from blindsave.bench import sim
from blindsave.errors import BadInput


@pytest.fixture(scope="module")
def load():
    return sim.Load(2, 1)


def test_the_load_is_repeatable(load):
    again = sim.Load(2, 1)
    for name in ("launches", "actions", "torques"):
        np.testing.assert_array_equal(getattr(load, name), getattr(again, name))
    assert load.torques.any() and load.actions.shape == (sim.STEPS, 2, 2)


def test_a_policy_decides_anew_every_ten_steps(load):
    blocks = load.actions.reshape(-1, 10, 2, 2)
    assert (blocks == blocks[:, :1]).all()
    assert len(np.unique(blocks[:, 0, 0], axis=0)) == len(blocks)


def test_raw_physics_moves_the_same_pucks_under_the_same_torques(load):
    places = []
    for work in (load.controlled, load.raw):
        load.arena.reset(load.launches)
        work()
        load.arena.step(load.actions[-1])  # the physics alone publishes no state
        places.append(load.arena.qpos[:, 9:11].copy())
    np.testing.assert_allclose(*places, atol=1e-6)
    assert (places[0][:, 0] < load.launches[:, 0] - 0.5).all()


def test_ratios_are_those_of_the_figures(monkeypatch):
    monkeypatch.setattr(sim.Load, "rate", lambda self, work: 300.0 if work == self.raw else 200.0)
    monkeypatch.setattr(sim, "reference_rate", lambda steps: 4.0)
    found = sim.bench(n=1, rounds=2, threads=2)
    assert found["control_steps_per_s"] == 200.0 and found["times_reference"] == 50.0
    assert found["fraction_of_raw"] == pytest.approx(2 / 3)
    assert found["thread_scaling"] == 0.5 and found["threads"] == 2
    assert found["times_original_measured_elsewhere"] == 200.0 / sim.ORIGINAL_STEPS_PER_S


@pytest.mark.parametrize(("n", "rounds"), [(0, 1), (1, 0), (-1, 1)])
def test_a_bench_of_nothing_is_refused(n, rounds):
    with pytest.raises(BadInput, match="at least one table and one round"):
        sim.bench(n=n, rounds=rounds, threads=1)
