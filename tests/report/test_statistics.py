"""What `blindsave stats` says of a table."""

import json
from pathlib import Path

import pytest
from synthetic_tables import random_table, table

from blindsave.errors import BadInput
from blindsave.evidence.plan import load_plan
from blindsave.report.statistics import between_teachers, statistics

PLAN = load_plan(Path(__file__).parents[2] / "protocol.toml")
RATES = {"structured_k0": 0.95, "gru_n64": 0.9, "feed_forward": 0.5, "teacher": 0.97}


@pytest.fixture(scope="module")
def said():
    return statistics(random_table(RATES, seeds=(1, 2), blackouts=(0, 20)), PLAN, replicates=30)


def test_everything_is_plain_json(said):
    assert json.loads(json.dumps(said, allow_nan=False))["split"] == "principal_test"


def test_rates_are_fractions_by_policy_and_length(said):
    assert said["rates"].keys() == RATES.keys() and said["rates"]["gru_n64"].keys() == {"0", "20"}
    cell = said["rates"]["gru_n64"]["20"]
    assert 0 <= cell["low"] <= cell["estimate"] <= cell["high"] <= 1
    assert said["rates"]["teacher"]["20"]["seedless"] and not cell["seedless"]
    saves = said["saves_by_seed"]["gru_n64"][20]
    assert cell["estimate"] == pytest.approx(sum(saves.values()) / (2 * 225))


def test_only_planned_pairs_that_are_there_are_compared(said):
    planned = {(a, b) for name in ("primary", "secondary") for a, b in PLAN.contrasts[name]}
    found = {(c["a"], c["b"]) for name in ("primary", "secondary") for c in said[name]}
    assert found == {pair for pair in planned if set(pair) <= RATES.keys()} and found
    assert {(row["a"], row["b"]) for row in said["mcnemar"]} == found
    assert said["gap_recovery"].keys() == {"feed_forward"}


def test_parts_that_need_more_are_left_out():
    alone = statistics(random_table({"feed_forward": 0.5}, seeds=(1,), blackouts=(0, 5)), PLAN, replicates=20)
    assert not {"primary", "mcnemar", "gap_recovery", "gaps_to_reference", "noise"} & alone.keys()
    assert alone["training_seeds"] == [1]


def test_noise_is_compared_with_clean_where_there_is_some():
    noisy = random_table({"gru_n64": 0.9, "structured_k0": 0.95}, seeds=(1,), disturbances=("clean", "noise_5mm"))
    found = statistics(noisy, PLAN, replicates=20)["noise"]
    assert len(found["effects"]) == 2 * len(found["rates"])  # two policies, one level, every group
    assert "20+noise_5mm" in found["rates"]["all"]["gru_n64"]
    only = random_table({"gru_n64": 0.9}, seeds=(1,), disturbances=("noise_1mm", "noise_5mm"))
    with pytest.raises(BadInput, match="the table holds no disturbance 'clean'"):
        statistics(only, PLAN, replicates=20)


def test_several_teachers_are_compared_where_all_trained_both():
    tables = [random_table(RATES, seeds=(1, 2)), random_table({"structured_k0": 0.9, "gru_n64": 0.8}, seeds=(1, 2))]
    found = between_teachers(tables, PLAN, replicates=20)
    assert found["teachers"] == 2
    assert {frozenset((c["a"], c["b"])) for c in found["between_teachers"]} == {frozenset(("gru_n64", "structured_k0"))}


def test_a_policy_that_saves_all_has_a_rate_of_one():
    every = table({"teacher": (0,)}, lambda *_: True)
    assert statistics(every, PLAN, replicates=20)["rates"]["teacher"]["20"]["estimate"] == 1.0
