"""Bootstrap draws: published streams, whole weights, strata that keep their sizes, and ratios by hand."""

import numpy as np
import pytest
from synthetic_tables import random_saves, shot_rows

from blindsave.evidence import resample
from blindsave.evidence.resample import Draws, counts, principal_draws, replicate_rates, strata, stratified_draws

SMALL = {"members": shot_rows(4, (2, 1, 1, 3)), "seeds": (14303, 14304)}


def test_counts_are_how_often_each_category_was_drawn():
    drawn = np.array([[0, 0, 2], [1, 1, 1]])
    assert counts(drawn, 4).tolist() == [[2, 0, 1, 0], [0, 3, 0, 0]]


def test_principal_draws_are_the_published_stream_of_the_blackout():
    draws = principal_draws(20, seeds=5, units=7, replicates=11)
    rng = np.random.default_rng(74303 + 20)
    seeds, units = rng.integers(0, 5, (11, 5)), rng.integers(0, 7, (11, 7))
    for row in range(11):
        assert draws.seeds[row].tolist() == np.bincount(seeds[row], minlength=5).tolist()
        assert draws.units[row].tolist() == np.bincount(units[row], minlength=7).tolist()
    assert not np.array_equal(draws.units, principal_draws(15, 5, 7, 11).units)


def test_a_table_without_training_seeds_is_drawn_over_units_alone():
    draws = principal_draws(0, seeds=0, units=3, replicates=4)
    assert draws.seeds.tolist() == [[1.0]] * 4
    assert (draws.units.sum(1) == 3).all()


def test_strata_are_the_pairs_and_the_support_shots_by_target():
    saves = random_saves({"gru_n64": 0.8}, **SMALL)
    found = strata(saves)
    assert {name: len(members) for name, members in found.items()} == {
        "alias": 4,
        "support_goal_centre": 2,
        "support_near_post_left": 2,
        "support_near_post_right": 3,
    }
    assert sorted(np.concatenate(list(found.values()))) == list(range(len(saves.units)))


def test_every_stratified_replicate_keeps_the_design():
    saves = random_saves({"gru_n64": 0.8, "teacher": 0.9}, **SMALL)
    draws = stratified_draws(saves, seed=5, replicates=50)
    for members in strata(saves).values():
        assert (draws.units[:, members].sum(1) == len(members)).all()
    assert (draws.seeds.sum(1) == 2).all()
    assert np.array_equal(draws.units, stratified_draws(saves, 5, 50).units)


def test_draws_depend_on_the_design_and_never_on_results():
    one, other = (random_saves({"gru_n64": rate}, **SMALL) for rate in (0.2, 0.9))
    assert not np.array_equal(one.saved["gru_n64"], other.saved["gru_n64"])
    for a, b in zip(stratified_draws(one, 3, 20), stratified_draws(other, 3, 20), strict=True):
        np.testing.assert_array_equal(a, b)


def test_rates_are_ratios_of_drawn_saves_to_drawn_shots():
    draws = Draws(np.array([[2.0, 0.0], [1.0, 1.0]]), np.array([[1.0, 1.0], [0.0, 2.0]]))
    family, teacher = np.array([[2.0, 1.0], [0.0, 1.0]]), np.array([[1.0, 1.0]])
    rates = replicate_rates(draws, [family, teacher], np.array([2.0, 1.0]))
    assert rates[0].tolist() == [2 * 3 / (2 * 3), 4 / (2 * 2)]
    assert rates[1].tolist() == [2 / 3, 1.0]


def test_drawing_everything_once_gives_the_plain_rate():
    saves = random_saves({"gru_n64": 0.7, "teacher": 0.9}, **SMALL)
    once = Draws(np.ones((1, 2)), np.ones((1, len(saves.units))))
    blocks = [saves.by_unit(policy, 20) for policy in ("gru_n64", "teacher")]
    rates = replicate_rates(once, blocks, saves.unit_sizes())
    assert rates[:, 0].tolist() == pytest.approx([saves.at(p, 20).mean() for p in ("gru_n64", "teacher")], rel=1e-15)


def test_the_seeds_of_the_published_analyses_differ():
    assert len({resample.PRINCIPAL_SEED, resample.SUBGROUP_SEED, resample.NOISE_SEED}) == 3
