"""Multi-reader intervals: against a plain analysis of variance, SciPy, the shipped tables and their own rules."""

from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from studies import REPOSITORY, TERMINATED
from synthetic_tables import SEEDS, random_saves

from blindsave.errors import BadFile, BadInput
from blindsave.evidence import mrmc, student_t, tables
from blindsave.evidence.plan import load_plan
from blindsave.evidence.power import power
from blindsave.evidence.principal import principal
from blindsave.evidence.saves import Saves, saves
from blindsave.evidence.strata import noise, subgroups
from blindsave.report.statistics import between_teachers, statistics

PRINCIPAL = TERMINATED / "test" / "principal_test.parquet"


@pytest.fixture(scope="module")
def shipped() -> Saves:
    return saves(tables.read(PRINCIPAL))


@pytest.mark.parametrize("df", [1, 1.5, 4, 4.6, 16.2, 134, 5000, 9e4])
def test_student_t_is_scipys(df: float):
    chances = [0.001, 0.025, 0.3, 0.5, 0.8, 0.95, 0.975, 0.9995]
    ours = [float(student_t.quantile(chance, df)) for chance in chances]
    assert ours == pytest.approx(list(stats.t.ppf(chances, df)), rel=1e-8, abs=1e-12)
    at = np.linspace(-40, 40, 401)
    assert student_t.cdf(at, df) == pytest.approx(stats.t.cdf(at, df), abs=1e-9)


def test_many_degrees_of_freedom_are_the_normal_distribution():
    assert float(student_t.quantile(0.975, np.inf)) == pytest.approx(1.959964, abs=1e-4)


def test_the_spread_is_that_of_a_two_way_analysis_of_variance():
    rng = np.random.default_rng(4)
    table = rng.standard_normal((5, 1)) + 2 * rng.standard_normal((1, 30)) + rng.standard_normal((5, 30))
    by_seed, by_unit = table.mean(axis=1), table.mean(axis=0)
    of_seeds, of_units = 30 * by_seed.var(ddof=1), 5 * by_unit.var(ddof=1)
    rest = table - by_seed[:, None] - by_unit + table.mean()
    both = (rest**2).sum() / (4 * 29)
    found = mrmc.spread(table)
    assert found.variance == pytest.approx((of_seeds + of_units - both) / 150)
    assert found.df == pytest.approx((of_seeds + of_units - both) ** 2 / (of_seeds**2 / 4))


def test_where_seeds_decide_it_is_the_t_interval_of_the_seed_means():
    seeds = np.array([0.1, 0.3, 0.2, 0.6, 0.4])
    table = np.repeat(seeds[:, None], 135, axis=1)
    low, high = mrmc.ends(table.mean(), mrmc.spread(table))
    wanted = stats.t.interval(0.95, 4, seeds.mean(), stats.sem(seeds))
    assert (float(low), float(high)) == pytest.approx(wanted)


def test_a_single_network_varies_by_its_units_alone():
    table = np.random.default_rng(2).standard_normal((1, 40))
    found = mrmc.spread(table)
    assert (found.variance, found.df) == (pytest.approx(table.var(ddof=1) / 40), 39)


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [
        ("structured_k0", "feed_forward", (52.5, 39.8, 65.2)),
        ("structured_k0", "finite_stack_10", (2.2, 0.1, 4.4)),
        ("gru_n64", "structured_k0", (0.4, -0.2, 1.0)),
    ],
)
def test_differences_of_the_shipped_tables(shipped: Saves, a: str, b: str, wanted: tuple[float, float, float]):
    found = mrmc.principal_by("mrmc", principal(shipped, replicates=200), shipped).difference(a, b, 20)
    assert tuple(round(100 * value, 1) + 0.0 for value in (found.estimate, found.low, found.high)) == wanted


def test_points_are_those_of_the_bootstrap_and_rates_stay_between_none_and_all(shipped: Saves):
    whole = principal(shipped, replicates=100)
    other = mrmc.principal_by("mrmc", whole, shipped)
    for policy in shipped.saved:
        for blackout in shipped.blackouts:
            rate = other.rate(policy, blackout)
            assert rate.estimate == pytest.approx(whole.rate(policy, blackout).estimate)
            assert 0 <= rate.low <= rate.estimate <= rate.high <= 1
    perfect = other.rate("gru_n64", 0)
    assert (perfect.estimate, perfect.high) == (1.0, 1.0)
    assert perfect.low == pytest.approx(0.025 ** (1 / 135))


def test_an_interval_does_not_depend_on_the_names_order():
    dense = random_saves({"a": 0.9, "b": 0.8, "teacher": 0.95})
    found = mrmc.principal_by("mrmc", principal(dense, replicates=50), dense)
    for pair in (("a", "b"), ("a", "teacher")):
        one, other = found.difference(*pair, 20), found.difference(*reversed(pair), 20)
        assert (one.low, one.high) == pytest.approx((-other.high, -other.low))
        assert one.p == pytest.approx(other.p)


def test_p_agrees_with_the_interval_and_equivalence_with_the_90_percent_one():
    dense = random_saves({"a": 0.86, "b": 0.85})
    whole = mrmc.principal_by("mrmc", principal(dense, replicates=50), dense)
    found = whole.difference("a", "b", 20, margin=0.02)
    assert (found.p < 0.05) == (found.low > 0 or found.high < 0)
    for margin in (0.01, 0.05, 0.1, 0.3):
        tested = whole.difference("a", "b", 20, margin).equivalence
        assert tested.equivalent == (tested.p < 0.05) == (-margin < tested.low and tested.high < margin)


def test_at_the_ceiling_both_methods_must_agree(shipped: Saves):
    """structured_k4 - structured_k0 on the principal test: the t tests alone would call them equivalent."""
    whole = principal(shipped)
    found = mrmc.principal_by("mrmc", whole, shipped).difference("structured_k4", "structured_k0", 20)
    assert found.equivalence.high < 0.02 and not found.equivalence.equivalent
    assert found.equivalence.p == whole.difference("structured_k4", "structured_k0", 20).equivalence.p
    assert mrmc.at_the_ceiling(0.97, 0.95) and not mrmc.at_the_ceiling(0.97, 0.94)
    assert mrmc.at_the_ceiling(0.03, 0.05)


def test_identical_outcomes_are_equal_without_doubt():
    dense = random_saves({"a": 0.8})
    twins = Saves(
        **vars(dense) | {"saved": {"a": dense.saved["a"], "b": dense.saved["a"]}, "seeds": {"a": SEEDS, "b": SEEDS}}
    )
    found = mrmc.principal_by("mrmc", principal(twins, replicates=20), twins).difference("a", "b", 20)
    assert (found.estimate, found.low, found.high, found.p) == (0, 0, 0, 1)
    assert found.equivalence.equivalent and found.equivalence.p == 0


def failing(**shots_of: int) -> Saves:
    """Policies that save everything but so many shots, each training seed others: no seed and no unit stands out."""
    dense = random_saves(dict.fromkeys(shots_of, 0.5))
    ids, first = np.flatnonzero(dense.is_alias)[::2], 0
    saved = {}
    for name, count in shots_of.items():
        saved[name] = np.ones_like(dense.saved[name])
        for seed in range(len(SEEDS)):
            saved[name][seed, ids[first : first + count]] = False
            first += count
    return Saves(**vars(dense) | {"saved": saved})


@pytest.mark.parametrize(("a", "b"), [(1, 1), (2, 1), (1, 3), (2, 2)])
def test_a_variance_of_zero_is_no_certainty_where_the_tables_differ(a: int, b: int):
    dense = failing(a=a, b=b)
    (_, one), (_, other) = (mrmc.departures(dense.by_unit(name, 20), dense.unit_sizes()) for name in ("a", "b"))
    assert mrmc.spread((one - other) * 135).variance < 1e-18  # zero, or what rounding leaves of it
    whole = principal(dense, replicates=400)
    found = mrmc.principal_by("mrmc", whole, dense).difference("a", "b", 20)
    assert found == whole.difference("a", "b", 20)
    assert found.high - found.low > 0.005 and found.p > 0.001 and found.equivalence.p > 0.001


def test_it_is_none_within_groups_and_for_plain_tables_either():
    dense = failing(a=1, b=2)
    strata = subgroups(dense, 400)
    found = mrmc.strata_by("mrmc", strata, dense).difference("alias", "a", "b", 20)
    assert found == strata.difference("alias", "a", "b", 20) and found.low < found.estimate < found.high
    one, other = (dense.by_unit(name, 20) for name in ("a", "b"))
    plain = mrmc.difference_of(("a", "b"), one, other, dense.unit_sizes(), replicates=400)
    assert plain.low < plain.estimate < plain.high and plain.equivalence.p > 0.001


def test_a_spread_that_can_be_seen_is_used_however_small():
    """One seed fails at one shot more: no longer zero, so the t interval holds."""
    dense = failing(a=1, b=1)
    dense.saved["a"][0, np.flatnonzero(~dense.is_alias)[0]] = False
    whole = principal(dense, replicates=400)
    found = mrmc.principal_by("mrmc", whole, dense).difference("a", "b", 20)
    assert found.low + found.high == pytest.approx(2 * found.estimate) and found.high > found.low
    assert (found.low, found.high) != (whole.difference("a", "b", 20).low, whole.difference("a", "b", 20).high)


def test_a_rate_without_spread_is_as_wide_as_that_of_as_many_units():
    dense = failing(a=1)
    found = mrmc.rate(dense, ("a", 20, "clean"))
    rate = 224 / 225
    logit, width = np.log(rate / (1 - rate)), stats.t.ppf(0.975, 134) / np.sqrt(135 * rate * (1 - rate))
    wanted = [1 / (1 + np.exp(-(logit + way * width))) for way in (-1, 1)]
    assert (found.estimate, found.low, found.high) == pytest.approx((rate, *wanted))


def test_half_of_every_pair_is_not_half_without_doubt():
    """A goalkeeper without memory stops one shot of each alias pair."""
    apart = mrmc.departures(np.ones((2, 45)), np.full(45, 2.0))[1]
    low, high = mrmc.rate_ends(np.asarray(0.5), mrmc.spread(apart * 45), 45)
    assert low + high == pytest.approx(1) and 0.3 < low < 0.4
    ends = mrmc.rate_ends(np.array([0.0, 1.0]), mrmc.Spread(np.zeros(2), np.full(2, 4.0)), 45)
    assert np.array(ends) == pytest.approx(np.array([[0, 0.025 ** (1 / 45)], [1 - 0.025 ** (1 / 45), 1]]))


def test_groups_and_noise_have_the_same_points_and_their_own_units():
    dense = random_saves({"a": 0.7, "b": 0.6, "teacher": 0.8}, disturbances=("clean", "noise_5mm"))
    ways = [subgroups(dense, 50), mrmc.strata_by("mrmc", subgroups(dense, 50), dense)]
    one, other = (way.difference("alias", "a", "b", 20) for way in ways)
    assert one.estimate == pytest.approx(other.estimate) and one.group == other.group == "alias"
    alias = [dense.by_unit(name, 20, group=dense.is_alias)[:, :90] / 2 for name in ("a", "b")]
    members = sorted(dense.units.index(unit) for unit in dense.units if ":alias:" in unit)
    assert members == list(range(90))
    table = alias[0] - alias[1]
    low, high = mrmc.ends(table.mean(), mrmc.spread(table))
    assert (other.low, other.high) == pytest.approx((float(low), float(high)))
    noisy = mrmc.strata_by("mrmc", noise(dense, 50), dense).noise_effect("all", "a", 20, "noise_5mm")
    assert noisy.low < noisy.estimate < noisy.high


def test_with_several_teachers_what_was_drawn_first_is_the_teacher(shipped: Saves):
    others = [
        saves(tables.read(REPOSITORY / f"results/teachers/seed_{n}/test/principal_test.parquet")) for n in (7304, 7305)
    ]
    studies = [shipped, *others]
    found = mrmc.over_teachers(studies, "structured_k0", "feed_forward", 20, replicates=100)
    sizes = shipped.unit_sizes()
    table = np.array([(s.by_unit("structured_k0", 20) - s.by_unit("feed_forward", 20)).mean(axis=0) for s in studies])
    by_teacher = table.sum(axis=1) / sizes.sum()
    assert found.estimate == pytest.approx(by_teacher.mean())
    wanted = mrmc.spread((table - found.estimate * sizes) * len(sizes) / sizes.sum())
    low, high = mrmc.ends(np.asarray(found.estimate), wanted)
    assert (found.low, found.high) == pytest.approx((float(low), float(high)))
    assert wanted.df >= 2
    with pytest.raises(BadInput, match="two of them"):
        mrmc.over_teachers(studies[:1], "structured_k0", "feed_forward", 20)
    plan = load_plan(REPOSITORY / "results/teachers/seed_7304/protocol.toml")
    said = between_teachers([tables.read(PRINCIPAL)] * 2, plan, replicates=20)
    assert said["teachers"] == 2 and len(said["between_teachers"]) > 3


def test_noise_over_teachers_is_read_from_its_own_episodes():
    studies = [
        saves(tables.read(REPOSITORY / f"results/teachers/seed_{n}/noise/noise_test.parquet")) for n in (7304, 7305)
    ]
    found = mrmc.over_teachers(studies, "structured_k0", "gru_n64", 20, replicates=50, disturbance="noise_5mm")
    each = [s.at("structured_k0", 20, "noise_5mm").mean() - s.at("gru_n64", 20, "noise_5mm").mean() for s in studies]
    assert found.estimate == pytest.approx(np.mean(each))


def test_one_more_teacher_falls_where_it_was_expected_in_95_of_100_worlds():
    draws = np.random.default_rng(3).normal(2.0, 5.0, (800, 9))
    expected = [mrmc.next_teacher(row[:8]) for row in draws]
    held = np.mean([low <= row[8] <= high for row, (low, high) in zip(draws, expected, strict=True)])
    assert held == pytest.approx(0.95, abs=0.02)
    with pytest.raises(BadInput, match="fewer than two"):
        mrmc.next_teacher([1.0])


def test_power_asks_for_more_where_few_seeds_decide(shipped: Saves):
    normal = power(shipped, "structured_k0", "feed_forward", 20, 0.1)
    t = power(shipped, "structured_k0", "feed_forward", 20, 0.1, method="mrmc")
    assert t.components == normal.components and t.resolvable_now > normal.resolvable_now
    assert t.seeds_needed is not None and normal.seeds_needed is not None and t.seeds_needed > normal.seeds_needed


def test_a_plan_names_its_method_and_another_is_marked_as_after_the_fact(tmp_path: Path):
    shipped_plan = load_plan(TERMINATED / "protocol.toml")
    assert (shipped_plan.method, load_plan(REPOSITORY / "protocol.toml").method) == ("bootstrap", "mrmc")
    text = (TERMINATED / "protocol.toml").read_text()
    (tmp_path / "mrmc.toml").write_text(text.replace("[statistics]", '[statistics]\nmethod = "mrmc"'))
    plan = load_plan(tmp_path / "mrmc.toml")
    table = tables.read(PRINCIPAL)
    planned, late = (
        statistics(table, plan, replicates=30),
        statistics(table, shipped_plan, replicates=30, method="mrmc"),
    )
    assert (planned["method"], planned["after_the_fact"]) == ("mrmc", False)
    assert (late["method"], late["after_the_fact"]) == ("mrmc", True)
    assert planned["secondary"] == late["secondary"]
    assert statistics(table, shipped_plan, replicates=30)["after_the_fact"] is False
    (tmp_path / "odd.toml").write_text(text.replace("[statistics]", '[statistics]\nmethod = "guess"'))
    with pytest.raises(BadFile, match=r"statistics\.method is 'guess'"):
        load_plan(tmp_path / "odd.toml")
    with pytest.raises(BadInput, match="guess"):
        statistics(table, shipped_plan, replicates=30, method="guess")
