"""Stratified draws in their published order, against a slow reading and published intervals."""

import itertools

import numpy as np
import pytest
from synthetic_tables import SEEDS, random_saves, shot_rows, table

from blindsave.errors import BadInput
from blindsave.evidence.resample import strata, stratified_draws
from blindsave.evidence.saves import Saves, saves
from blindsave.evidence.strata import groups, noise, subgroups

STRATA = ("alias", "support_goal_centre", "support_near_post_left", "support_near_post_right")


@pytest.fixture(scope="module")
def dense() -> Saves:
    rates = {"gru_n64": 0.9, "structured_k0": 0.94, "structured_k4": 0.93, "teacher": 0.97}
    return random_saves(rates, blackouts=(0, 20), disturbances=("clean", "noise_1mm", "noise_5mm"))


def test_strata_and_groups_have_the_sizes_of_the_study(dense):
    assert {name: len(units) for name, units in strata(dense).items()} == dict(
        zip(STRATA, (90, 5, 20, 20), strict=True)
    )
    assert list(strata(dense)) == list(STRATA)
    assert {name: int(mask.sum()) for name, mask in groups(dense).items()} == {
        "all": 225,
        "alias": 180,
        "support": 45,
        "target_left": 110,
        "target_right": 110,
        "target_centre": 5,
        "alias_left": 90,
        "alias_right": 90,
    }


def test_draws_follow_the_published_order(dense):
    rng = np.random.default_rng(9302026)
    draws = stratified_draws(dense, 9302026)
    assert (draws.seeds == rng.multinomial(5, [0.2] * 5, size=10_000)).all()
    kinds = [(":alias:", 90), (":goal_centre:", 5), (":near_post_left:", 20), (":near_post_right:", 20)]
    for kind, n in kinds:
        if kind == ":alias:":
            units = [i for i, unit in enumerate(dense.units) if kind in unit]
        else:
            units = [i for i, unit in enumerate(dense.units) if kind in unit and ":support:" in unit]
        assert (draws.units[:, units] == rng.multinomial(n, [1 / n] * n, size=10_000)).all()


@pytest.mark.parametrize("group", ["all", "support", "alias_left"])
@pytest.mark.parametrize("policy", ["gru_n64", "teacher"])
def test_rates_equal_a_slow_reading_of_the_formula(dense, group, policy):
    result = subgroups(dense)
    draws = stratified_draws(dense, 9302026)
    mask, saved = groups(dense)[group], dense.at(policy, 20)
    for replicate in (0, 17, 9999):
        seeds = draws.seeds[replicate] if len(saved) > 1 else [1.0]
        won = played = 0.0
        for weight, row in zip(seeds, saved, strict=True):
            for shot in np.flatnonzero(mask):
                times = weight * draws.units[replicate, dense.unit_of[shot]]
                won, played = won + times * row[shot], played + times
        assert result.replicates[group][policy, 20, "clean"][replicate] == won / played


def teacher_like(missed: tuple[int, int, int]) -> Saves:
    """A seedless policy that saves all but so many centre, left and right support shots."""
    kinds = ("goal_centre", "near_post_left", "near_post_right")
    order: dict[str, list[str]] = {kind: [] for kind in kinds}
    for shot in sorted(shot_rows()):
        if shot.alias_family is None:
            order[shot.target_region].append(shot.shot_id)
    lost = {shot for kind, n in zip(kinds, missed, strict=True) for shot in order[kind][:n]}
    return saves(table({"teacher": (0,), "k": SEEDS}, lambda p, _, s, *__: p == "k" or s.shot_id not in lost))


def splits(total: int, centre: int | None = None) -> list[tuple[int, int, int]]:
    """Every way to lay so many misses on the three support strata."""
    ways = itertools.product(range(6), range(21), range(21))
    return [way for way in ways if sum(way) == total and centre in (None, way[0])]


@pytest.mark.parametrize("missed", splits(4, centre=1)[:2])
def test_the_published_support_interval_of_the_teacher_follows_from_its_misses(missed):
    """41 of 45 support shots at 20 steps, 4 of 5 centre ones; the interval is reproduced exactly."""
    rate = subgroups(teacher_like(missed)).rate("support", "teacher", 20)
    assert rate.estimate == 41 / 45
    assert (round(100 * rate.low, 1), round(100 * rate.high, 1)) == (82.2, 97.8)


@pytest.mark.parametrize("missed", [(1, 2, 3), (0, 3, 3), (2, 2, 2)])
def test_the_published_noise_interval_of_the_teacher_follows_from_its_misses(missed):
    """219 of 225 at 400 ms without noise, all misses on support shots: [95.1, 99.1], to one shot."""
    rate = noise(teacher_like(missed)).rate("all", "teacher", 20)
    assert rate.estimate == 219 / 225
    assert 100 * rate.low == pytest.approx(95.1, abs=100 / 225 + 0.06)
    assert 100 * rate.high == pytest.approx(99.1, abs=100 / 225 + 0.06)


def test_noise_effects_compare_a_policy_with_itself_under_the_same_draws(dense):
    result = noise(dense)
    none = result.noise_effect("all", "gru_n64", 20, "clean")
    assert (none.estimate, none.low, none.high) == (0, 0, 0)
    effect = result.noise_effect("all", "gru_n64", 20, "noise_5mm")
    points = result.points["all"]
    assert effect.estimate == points["gru_n64", 20, "noise_5mm"] - points["gru_n64", 20, "clean"]
    assert effect.low <= effect.estimate <= effect.high


def test_pairs_of_absent_policies_are_left_out_and_unknown_groups_refused(dense):
    result = noise(dense, replicates=100)
    pairs = [("structured_k0", "gru_n64"), ("structured_k0", "ppo")]
    assert [(c.a, c.b) for c in result.differences(["all"], pairs, 20)] == [("structured_k0", "gru_n64")]
    with pytest.raises(BadInput, match="no group 'roof'"):
        result.rate("roof", "teacher", 20)
    with pytest.raises(BadInput, match="no policy 'ppo'"):
        result.rate("all", "ppo", 20)
