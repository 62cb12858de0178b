import numpy as np
import pytest

from blindsave.bench.coverage import KINDS, POPULATIONS, Block, Population, coverage, simulate

NAMED = {population.name: population for population in KINDS}


def test_synthetic_studies_have_the_true_rates_they_claim():
    population = Population("x", 0.9, 0.7, seed_sd=0.4, unit_sd=0.8, both_sd=0.3)
    a, b = simulate(population, np.random.default_rng(1), 400)
    assert a.sum() / (400 * 5 * 225) == pytest.approx(0.9, abs=0.01)
    assert b.sum() / (400 * 5 * 225) == pytest.approx(0.7, abs=0.01)
    assert population.apart(0.02).rate_b == pytest.approx(0.88)


def test_every_kind_of_population_is_studied_with_5_10_and_20_seeds():
    assert {(p.name, p.seeds) for p in POPULATIONS} == {(name, seeds) for name in NAMED for seeds in (5, 10, 20)}


@pytest.mark.parametrize("name", ["seeds and units matter", "seeds dominate", "units dominate", "identical policies"])
def test_multi_reader_intervals_cover_the_truth_with_five_seeds(name: str):
    found = coverage(NAMED[name], studies=1500, replicates=10)["mrmc"]
    assert 0.93 <= found["difference"] <= 0.97
    assert found["size"] <= 0.06


def test_the_bootstrap_covers_where_both_matter_and_five_dominant_seeds_are_too_few_for_it():
    found = coverage(NAMED["seeds and units matter"], studies=800, replicates=400)["bootstrap"]
    assert 0.93 <= found["rate"] <= 0.97 and 0.93 <= found["difference"] <= 0.97
    assert coverage(NAMED["seeds dominate"], studies=500, replicates=300)["bootstrap"]["difference"] < 0.92


def test_at_the_ceiling_the_bootstrap_has_a_say():
    """Tables that vary so little that the t tests are sure, and replicates that are not."""
    saved = np.ones((2, 1, 5, 135)) * np.array([2.0] * 90 + [1.0] * 45)
    wide = np.stack([np.zeros((1, 100)), np.linspace(-0.1, 0.1, 100)[None]])
    called = Block(saved, wide).equivalent()
    assert not called["bootstrap"][0] and not called["mrmc"][0]
    assert Block(saved, np.zeros((2, 1, 100))).equivalent()["mrmc"][0]
