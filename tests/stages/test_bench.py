"""Rates for an estimate: how measurements become seconds per unit. Nothing is timed here."""

import pytest

from blindsave.stages import bench
from blindsave.stages.estimate import RATES, TEACHING, macs


@pytest.fixture
def measured(monkeypatch):
    """What a machine would measure."""
    seconds = {"gru_n64": 3.0, "feed_forward": 1.0, "structured_k0": 2.0}
    monkeypatch.setattr(bench, "_training", lambda name: seconds[name] * macs(name))
    monkeypatch.setattr(bench, "_episode", lambda episodes: 0.5 / episodes)
    monkeypatch.setattr(bench, "_call", lambda: 1e-5)
    monkeypatch.setattr(bench, "_core_seconds", lambda work: 7.0)
    return seconds


def test_a_multiplication_is_costed_by_the_median_family(measured):
    said = []
    rates = bench.measure_rates(tuple(measured), 10, said.append)
    assert rates["mac"] == pytest.approx(2.0)
    assert (rates["episode"], rates["latency"], rates["report"]) == (0.05, 1e-5, 7.0)
    assert len(said) == 4 and said[0].startswith("training gru_n64: 3000000000.00 ns")


def test_every_unit_keeps_a_rate_and_a_teachers_training_is_not_measured(measured):
    rates = bench.measure_rates(("gru_n64",), 10, lambda line: None)
    assert rates.keys() == RATES.keys()
    assert rates[TEACHING] == RATES[TEACHING]
