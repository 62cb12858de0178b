import numpy as np
import pytest

from blindsave.bench.coverage import POPULATIONS, Population, _simulate, coverage


def test_synthetic_studies_have_the_true_rates_they_claim():
    population = Population("x", 0.9, 0.7, seed_sd=0.4, unit_sd=0.8, both_sd=0.3)
    a, b = _simulate(population, np.random.default_rng(1), 400)
    assert a.sum() / (400 * 5 * 225) == pytest.approx(0.9, abs=0.01)
    assert b.sum() / (400 * 5 * 225) == pytest.approx(0.7, abs=0.01)


def test_intervals_cover_the_truth_where_seeds_and_units_matter():
    found = coverage(POPULATIONS[0], studies=1000, replicates=600)
    assert 0.93 <= found["rate"] <= 0.97
    assert 0.93 <= found["difference"] <= 0.97


def test_five_dominant_seeds_are_too_few_and_the_benchmark_says_so():
    five, twenty = (coverage(population, studies=500, replicates=400) for population in POPULATIONS[2:])
    assert five["rate"] < 0.92 < twenty["rate"] + 0.02
    assert five["mean_width_rate"] > twenty["mean_width_rate"]
