"""The principal bootstrap against a slow independent one, closed forms and published intervals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic_tables import SEEDS, random_saves, shot_rows, table

from blindsave.errors import BadInput
from blindsave.evidence.intervals import holm
from blindsave.evidence.principal import principal
from blindsave.evidence.resample import principal_draws, replicate_rates
from blindsave.evidence.saves import Saves, saves

# Support saves of 45 by training seed at 25 steps; these families saved every alias shot. Intervals in per cent.
PUBLISHED_SUPPORT_25 = {
    "structured_k0": ((36, 33, 30, 32, 29), (91.0, 96.9)),
    "structured_k1": ((38, 35, 33, 36, 37), (93.3, 98.1)),
    "structured_k2": ((35, 38, 35, 31, 36), (92.8, 97.8)),
    "structured_k4": ((31, 33, 30, 33, 31), (90.9, 96.7)),
}


@pytest.fixture(scope="module")
def dense() -> Saves:
    return random_saves({"gru_n64": 0.9, "structured_k0": 0.94, "teacher": 0.97}, blackouts=(0, 20))


def slow_replicates(dense: Saves, policy: str, blackout: int, replicates: int) -> np.ndarray:
    """The published recipe read literally: loops over drawn seeds, drawn units and their shots."""
    rng = np.random.default_rng(74303 + blackout)
    seed_draws = rng.integers(0, 5, size=(replicates, 5))
    unit_draws = rng.integers(0, 135, size=(replicates, 135))
    saved = dense.at(policy, blackout)
    members = [np.flatnonzero(dense.unit_of == unit) for unit in range(135)]
    found = []
    for seeds, units in zip(seed_draws, unit_draws, strict=True):
        rows = range(1) if len(saved) == 1 else seeds
        won = sum(int(saved[row, shot]) for row in rows for unit in units for shot in members[unit])
        played = len(rows) * sum(len(members[unit]) for unit in units)
        found.append(won / played)
    return np.array(found)


@pytest.mark.parametrize("policy", ["structured_k0", "teacher"])
def test_replicates_equal_the_slow_implementation_exactly(dense, policy):
    replicates = 60
    fast = principal(dense, replicates=replicates).replicates[policy]
    # Draws of seeds precede draws of units, so a short run is not a prefix of a long one: compare like with like.
    for at, blackout in enumerate(dense.blackouts):
        assert fast[at].tolist() == slow_replicates(dense, policy, blackout, replicates).tolist()


def test_the_draws_are_the_published_ones():
    rng = np.random.default_rng(74323)
    seeds, units = rng.integers(0, 5, size=(10_000, 5)), rng.integers(0, 135, size=(10_000, 135))
    draws = principal_draws(20, 5, 135)
    assert draws.seeds.shape == (10_000, 5)
    assert (draws.seeds.sum(axis=1) == 5).all()
    assert (draws.units.sum(axis=1) == 135).all()
    for row in (0, 4321, 9999):
        assert draws.seeds[row].tolist() == np.bincount(seeds[row], minlength=5).tolist()
        assert draws.units[row].tolist() == np.bincount(units[row], minlength=135).tolist()


def test_families_share_their_draws(dense):
    alone = principal(random_saves({"gru_n64": 0.9, "structured_k0": 0.94, "teacher": 0.97}, blackouts=(0, 20)))
    both = principal(dense)
    assert (both.replicates["gru_n64"] == alone.replicates["gru_n64"]).all()
    twin = {**dense.saved, "twin": dense.saved["structured_k0"]}
    seeds = {**dense.seeds, "twin": dense.seeds["structured_k0"]}
    copied = Saves(**{**dense.__dict__, "saved": twin, "seeds": seeds})
    contrast = principal(copied).difference("twin", "structured_k0", 20)
    assert (contrast.estimate, contrast.low, contrast.high, contrast.p) == (0, 0, 0, 1)


def test_a_family_that_always_saves_has_a_point_interval():
    perfect = principal(saves(table({"a": SEEDS, "b": SEEDS}, lambda p, *_: p == "a")))
    assert perfect.rate("a", 20) == perfect.rate("a", 20).__class__(1.0, 1.0, 1.0)
    assert perfect.difference("a", "b", 20).low == 1.0


def test_when_only_seeds_differ_the_variance_is_that_of_five_drawn_seeds():
    """Each seed saves all or nothing: the rate is a mean of five draws from five known values."""
    result = principal(saves(table({"a": SEEDS}, lambda _, seed, *__: seed < 14305)))
    replicates = result.replicates["a"][0]
    assert set(np.round(replicates * 5, 9)) <= {0, 1, 2, 3, 4, 5}
    assert replicates.mean() == pytest.approx(0.4, abs=0.01)
    assert replicates.var() == pytest.approx(0.4 * 0.6 / 5, rel=0.05)
    assert (result.rate("a", 20).low, result.rate("a", 20).high) == pytest.approx((0.0, 0.8))


def test_when_only_units_differ_the_variance_is_that_of_drawn_units():
    """Single-shot units, equal for all seeds: the bootstrap variance is p (1 - p) / n."""
    members = shot_rows(0, (100, 0, 0, 100))
    result = principal(
        saves(table({"a": SEEDS}, lambda _, __, shot, *___: shot.launch_region == "left", members=members))
    )
    replicates = result.replicates["a"][0]
    assert replicates.mean() == pytest.approx(0.5, abs=0.002)
    assert replicates.var() == pytest.approx(0.25 / 200, rel=0.05)


def test_pairs_count_as_one_unit_and_by_their_shots():
    """All luck lies in the pairs; the ratio of sums weighs a pair by its two shots."""
    result = principal(saves(table({"a": SEEDS}, lambda _, __, shot, *___: shot.alias_family is not None)))
    assert result.points["a"][0] == 180 / 225
    pairs = np.random.default_rng(74323)
    pairs.integers(0, 5, size=(10_000, 5))
    drawn = (pairs.integers(0, 135, size=(10_000, 135)) < 90).sum(axis=1)
    assert (result.replicates["a"][0] == 2 * drawn / (2 * drawn + (135 - drawn))).all()


@pytest.mark.parametrize("family", PUBLISHED_SUPPORT_25)
def test_published_intervals_lie_between_the_extreme_arrangements(family):
    """Counts by seed leave open which shots were missed: all seeds the same ones, or as different as can be."""
    wins, published = PUBLISHED_SUPPORT_25[family]

    def arrangement(shift: int) -> tuple[float, float]:
        missed, start = {}, 0
        for seed, won in zip(SEEDS, wins, strict=True):
            missed[seed] = {(start + i) % 45 for i in range(45 - won)}
            start += shift * (45 - won)
        names = sorted(s.shot_id for s in shot_rows() if s.alias_family is None)
        lost = {(seed, names[i]) for seed, indices in missed.items() for i in indices}
        result = principal(
            saves(table({"f": SEEDS}, lambda _, seed, shot, *__: (seed, shot.shot_id) not in lost, blackouts=(25,)))
        )
        assert result.points["f"][0] == (5 * 180 + sum(wins)) / 1125
        rate = result.rate("f", 25)
        return 100 * rate.low, 100 * rate.high

    nested, spread = arrangement(0), arrangement(1)
    assert nested[0] - 0.1 <= published[0] <= spread[0] + 0.1
    assert spread[1] - 0.1 <= published[1] <= nested[1] + 0.1


def test_gap_recovery_is_reported_only_for_a_gap_worth_closing():
    rates = {"base": 20, "middle": 30, "goal": 40, "near": 22}
    members = shot_rows(0, (50, 0, 0, 0))
    names = sorted(s.shot_id for s in members)
    result = principal(
        saves(
            table(dict.fromkeys(rates, SEEDS), lambda p, _, s, *__: names.index(s.shot_id) < rates[p], members=members)
        )
    )
    assert result.gap_recovery("middle", "base", "goal", 20) == pytest.approx(0.5)
    assert result.gap_recovery("middle", "base", "near", 20) is None
    gaps = result.gaps("goal")
    assert gaps["base"][20] == pytest.approx(0.4)
    assert "goal" not in gaps


def test_planned_contrasts_carry_their_holm_adjusted_p(dense):
    found = principal(dense).contrasts([("structured_k0", "gru_n64"), ("teacher", "gru_n64")], 20)
    assert [c.p_holm for c in found] == holm([c.p for c in found])
    assert found[0].to_dict()["equivalence"]["margin"] == 0.02


def test_overall_leaves_the_extrapolation_out():
    fast = saves(table({"a": SEEDS}, lambda _, __, ___, blackout, ____: blackout < 25, blackouts=(0, 20, 25)))
    assert principal(fast, replicates=10).overall("a") == 1.0


def test_unknown_names_and_lengths_are_refused(dense):
    result = principal(dense, replicates=10)
    with pytest.raises(BadInput, match="no policy 'ppo'"):
        result.rate("ppo", 20)
    with pytest.raises(BadInput, match="blackout of 3 steps"):
        result.rate("teacher", 3)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 5), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_replicate_rates_are_rates_and_grow_with_saves(seeds, units, seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 3, units).astype(float)
    saved = np.floor(rng.random((seeds, units)) * (sizes + 1))
    draws = principal_draws(int(rng.integers(0, 50)), seeds, units, 40)
    less, more = replicate_rates(draws, [saved, np.minimum(saved + 1, sizes)], sizes)
    assert (less >= 0).all()
    assert (less <= more).all()
    assert (more <= 1).all()
    everything = replicate_rates(draws, [np.tile(sizes, (seeds, 1))], sizes)
    assert (everything == 1).all()
