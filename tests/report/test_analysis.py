"""Every statistic of a report, from tables made up for it."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from synthetic_tables import random_table

from blindsave.report.analysis import Analysis, analyse, analyse_split, percent
from blindsave.report.results import Results, read_results

PAIRS = {"primary": (("gru_n64", "structured_k0"), ("lru_n32", "structured_k0"))}
RATES = {"structured_k0": 0.95, "gru_n64": 0.9, "teacher": 0.97}


def test_deviations_are_what_plan_and_tables_disagree_in(folder: Path, tmp_path: Path):
    shutil.copytree(folder, tmp_path / "r")
    (tmp_path / "r" / "noise" / "noise_test.parquet").unlink()
    found = analyse(read_results(tmp_path / "r"), 50).deviations
    assert any(d.what == "grid noise_test" and d.done == "no table" for d in found)
    assert any(d.what == "bootstrap replicates" and d.done == 50 for d in found)


@pytest.fixture(scope="module")
def split():
    return analyse_split(random_table(RATES, seeds=(1, 2, 3), blackouts=(0, 20)), PAIRS, 20, 0.02, 50)


def test_planned_differences_of_absent_policies_are_left_out(split):
    assert [(c.a, c.b) for c in split.contrasts["primary"]] == [("gru_n64", "structured_k0")]
    assert split.contrasts["secondary"] == ()
    assert list(split.discordances) == [("gru_n64", "structured_k0")]
    assert len(split.discordances["gru_n64", "structured_k0"]) == 3


def test_a_difference_is_that_of_the_rates_and_of_the_exact_counts(split):
    (found,) = split.contrasts["primary"]
    rates = [split.principal.rate(name, 20).estimate for name in ("gru_n64", "structured_k0")]
    assert found.estimate == pytest.approx(rates[0] - rates[1])
    counts = split.discordances["gru_n64", "structured_k0"]
    assert found.estimate == pytest.approx(sum(c.only_a - c.only_b for c in counts) / (3 * 225))


def test_without_the_endpoint_nothing_is_compared():
    found = analyse_split(random_table(RATES, seeds=(1,), blackouts=(0, 5)), PAIRS, 20, 0.02, 20)
    assert found.contrasts == {"primary": (), "secondary": ()} and found.discordances == {}
    assert found.power(0.02) == ()


def test_power_asks_about_every_primary_difference(split):
    assert [(one.a, one.b) for one in split.power(0.02)] == [("gru_n64", "structured_k0")]


def test_the_main_test_is_the_principal_one_or_what_there_is(analysis: Analysis):
    assert analysis.main is analysis.splits["principal_test"]
    rest = replace(analysis, splits={name: one for name, one in analysis.splits.items() if name != "principal_test"})
    assert rest.main is analysis.splits["sealed_test"]
    assert (rest.principal_test, rest.both_tests, rest.principal_at_endpoint) == (None, None, None)
    assert replace(analysis, splits={}).main is None
    assert analysis.both_tests == (analysis.splits["principal_test"], analysis.splits["sealed_test"])


def test_a_test_without_the_endpoint_is_not_shown_at_it(analysis: Analysis):
    late = replace(analysis, endpoint=7)
    assert late.main is not None and late.main_at_endpoint is None and late.principal_at_endpoint is None


def test_noise_covers_what_was_played(analysis: Analysis):
    noise = analysis.noise
    assert noise is not None
    assert noise.covers({"gru_n64", "teacher"}, 20, "noise_5mm")
    assert not noise.covers({"feed_forward"}, 20, "noise_5mm")
    assert not noise.covers({"gru_n64"}, 5, "noise_5mm")
    assert not noise.covers({"gru_n64"}, 20, "noise_9mm")


def test_without_a_plan_the_papers_questions_are_asked(results: Results):
    bare = replace(results, plan=None, tables={"validation": results.tables["validation"]}, memory={})
    found = analyse(bare, 20)
    assert (found.endpoint, found.margin, found.verdicts, found.deviations) == (20, 0.02, (), ())
    assert found.main is not None and len(found.main.contrasts["primary"]) == 4
    assert found.memory == {} and found.noise is None


def test_memory_tests_are_paired_with_the_teacher_that_was_recorded(analysis: Analysis):
    assert {other: {c.a for c in found} for other, found in analysis.memory.items()} == {
        "teacher_reset": {"teacher"},
        "ppo": {"teacher"},
    }
    assert [c.blackout for c in analysis.memory["ppo"]] == [0, 5, 10, 15, 20]


def test_percent_keeps_the_interval_and_the_sign(split):
    (found,) = split.contrasts["primary"]
    number = percent(found, signed=True, decimals=2)
    assert (number.value, number.low, number.high) == pytest.approx(
        (100 * found.estimate, 100 * found.low, 100 * found.high)
    )
    assert number.signed and number.decimals == 2
