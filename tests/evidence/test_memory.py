"""The memory tests as statistics: published counts give the published verdicts, and every rule can fail."""

import numpy as np
import pyarrow as pa
import pytest
from synthetic_tables import shot_rows, table

from blindsave.errors import BadInput
from blindsave.evidence import memory
from blindsave.evidence.paired import CAUSAL_SEED, MEMORYLESS_SEED, paired
from blindsave.evidence.saves import saves

# length: (saved by a only, by b only, by both) of 225, as published
VERSUS_PPO = {0: (20, 0, 204), 5: (42, 0, 181), 10: (83, 1, 138), 15: (181, 1, 39), 20: (145, 2, 73)}
VERSUS_RESET = {0: (0, 0, 224), 5: (94, 0, 131), 10: (111, 1, 110), 15: (107, 1, 111), 20: (105, 2, 111)}


def arranged(counts, a, b, members=None):
    """A table of two policies with these counts at every length, whichever shots they fall on."""
    members = members or shot_rows()
    order = {shot.shot_id: i for i, shot in enumerate(members)}

    def decide(policy, _, shot, length, __):
        only_a, only_b, both = counts[length]
        at = order[shot.shot_id]
        return at < only_a + both if policy == a[0] else only_a <= at < only_a + both + only_b

    runs = {a[0]: (a[1],), b[0]: (b[1],)}
    return table(runs, decide, blackouts=tuple(counts), members=members, split="test")


@pytest.fixture(scope="module")
def versus_ppo():
    return arranged(VERSUS_PPO, ("teacher", 0), ("ppo", 14304))


@pytest.fixture(scope="module")
def versus_reset():
    return arranged(VERSUS_RESET, ("teacher", 0), ("teacher_reset", 0))


def changed(whole, row, column, value):
    values = whole[column].to_pylist()
    values[row] = value
    place = whole.schema.get_field_index(column)
    return whole.set_column(place, whole.schema.field(place), pa.array(values, whole.schema.field(place).type))


def test_published_counts_pass_the_memoryless_test(versus_ppo):
    test = memory.memoryless(versus_ppo)
    assert test.passed and test.split == "test"
    assert 100 * test.facts["gap_growth"] == pytest.approx(54.67, abs=0.01)
    last = test.at(20)
    assert (last.saves_a, last.saves_b, last.only_a, last.only_b, last.shots) == (218, 75, 145, 2, 225)
    assert 100 * last.difference.low == pytest.approx(56.9, abs=0.5)
    assert 100 * last.difference.high == pytest.approx(70.2, abs=0.5)


def test_published_counts_pass_the_state_reset_test(versus_reset):
    test = memory.state_reset(versus_reset)
    assert test.passed
    assert 100 * test.at(20).difference.estimate == pytest.approx(45.8, abs=0.05)
    zero = test.at(0).difference
    assert (zero.estimate, zero.low, zero.high) == (0, 0, 0)
    assert test.facts["records_changed_without_blackout"] == 0


@pytest.mark.parametrize("seed", [CAUSAL_SEED, MEMORYLESS_SEED])
def test_differences_are_those_of_the_paired_bootstrap(versus_ppo, seed):
    rows = memory.compare(versus_ppo, "teacher", "ppo", seed)
    expected = paired(saves(versus_ppo), "teacher", "ppo", seed)
    assert [row.blackout for row in rows] == [0, 5, 10, 15, 20]
    for row, found in zip(rows, expected, strict=True):
        assert (row.difference.low, row.difference.high) == (found.low, found.high)


def test_rates_are_resampled_with_the_draws_of_the_difference():
    counts = {0: (30, 0, 0), 5: (0, 0, 40)}  # b never saves at 0: the difference is the rate of a
    rows = memory.compare(arranged(counts, ("a", 0), ("b", 0)), "a", "b", 7)
    assert rows[0].rate_a == rows[0].difference
    assert (rows[0].rate_b.low, rows[0].rate_b.high) == (0, 0)
    assert rows[1].rate_a == rows[1].rate_b and rows[1].rate_a.low < 40 / 225 < rows[1].rate_a.high


@pytest.mark.parametrize(
    ("column", "value"), [("reward", np.nextafter(1.2, 2)), ("steps", 41), ("first_contact", 21), ("reward", -0.0)]
)
def test_one_changed_bit_without_blackout_fails_the_reset_test(versus_reset, column, value):
    row = next(
        i
        for i, (policy, length) in enumerate(
            zip(versus_reset["policy"].to_pylist(), versus_reset["blackout"].to_pylist(), strict=True)
        )
        if policy == "teacher_reset" and length == 0
    )
    touched = changed(versus_reset, row, column, value)
    test = memory.state_reset(touched)
    assert not test.passed and not test.checks["identical_without_blackout"]
    assert memory.changed_records(touched, "teacher", "teacher_reset") == [touched["shot_id"][row].as_py()]


def test_a_reset_that_costs_nothing_fails():
    test = memory.state_reset(
        arranged(dict.fromkeys((0, 20), (0, 0, 220)), ("teacher", 0), ("teacher_reset", 0)),
    )
    assert test.checks == {"drop": False, "drop_interval_above_zero": False, "identical_without_blackout": True}


@pytest.mark.parametrize(
    ("counts", "fails"),
    [
        ({0: (20, 0, 140), 20: (145, 2, 73)}, {"control_visible_rate"}),
        ({0: (30, 0, 190), 20: (145, 2, 73)}, {"visible_gap"}),
        ({0: (20, 0, 204), 20: (30, 0, 190)}, {"hidden_gap", "gap_growth"}),
        ({0: (0, 20, 200), 20: (5, 5, 200)}, {"hidden_gap", "gap_growth", "hidden_interval_above_zero"}),
    ],
)
def test_every_check_of_the_memoryless_test_can_fail(counts, fails):
    test = memory.memoryless(arranged(counts, ("teacher", 0), ("ppo", 14304)))
    assert {name for name, held in test.checks.items() if not held} == fails and not test.passed


def validation(saved, rewards=None, teacher=None, shots=20):
    """Visible episodes of PPO seeds (saves by seed) and, where given, of the teacher."""
    members = shot_rows()[:shots]
    order = {shot.shot_id: i for i, shot in enumerate(members)}
    runs = {"ppo": tuple(saved)} | ({} if teacher is None else {"teacher": (0,)})
    whole = table(
        runs,
        lambda policy, seed, shot, *_: order[shot.shot_id] < (teacher if policy == "teacher" else saved[seed]),
        blackouts=(0,),
        members=members,
        split="validation",
    )
    for i, seed in enumerate(whole["training_seed"].to_pylist()):
        if rewards and seed in rewards and i % shots == 0:
            whole = changed(whole, i, "reward", rewards[seed])
    return whole


def test_the_best_visible_save_rate_is_selected():
    assert memory.select(validation({1: 15, 2: 18, 3: 17})).chosen.training_seed == 2


def test_ties_go_to_the_better_score_and_then_to_the_lower_seed():
    assert memory.select(validation({1: 18, 2: 18, 3: 18}, {3: 5.0, 2: 4.0})).chosen.training_seed == 3
    assert memory.select(validation({1: 18, 2: 18, 3: 17})).chosen.training_seed == 1


def test_blackout_episodes_do_not_take_part_in_the_selection(versus_ppo):
    found = memory.select(versus_ppo)
    assert (found.chosen.saves, found.chosen.shots) == (204, 225)


@pytest.mark.parametrize(
    ("saved", "teacher", "qualified"), [(15, 17, True), (14, 15, False), (18, 20, True), (17, 20, False)]
)
def test_qualification_needs_three_quarters_and_a_gap_of_ten_points_at_most(saved, teacher, qualified):
    found = memory.select(validation({1: saved}, teacher=teacher), reference="teacher")
    assert found.qualified is qualified
    assert found.to_dict()["reference_rate"] == teacher / 20


def test_a_fault_disqualifies():
    whole = validation({1: 19})
    row = whole["save"].to_pylist().index(False)
    found = memory.select(changed(whole, row, "outcome", "simulator_fault"))
    assert not found.qualified and found.checks == {"visible_rate": True, "no_faults": False}


def test_selection_without_candidates_is_refused(versus_reset):
    with pytest.raises(BadInput, match="no visible episode of ppo"):
        memory.select(versus_reset)


def test_figure_data_hold_both_comparisons_with_their_intervals(versus_ppo, versus_reset):
    reset, control = memory.state_reset(versus_reset), memory.memoryless(versus_ppo)
    drawn = memory.figure_data(reset, control)
    assert [(entry["comparison"], entry["blackout"]) for entry in drawn] == [
        ("memoryless", 0),
        ("memoryless", 20),
        ("state_reset", 0),
        ("state_reset", 20),
    ]
    bars = drawn[1]["bars"]
    assert [(bar["policy"], bar["saves"]) for bar in bars] == [("teacher", 218), ("ppo", 75)]
    assert all(bar["low"] <= bar["estimate"] <= bar["high"] for entry in drawn for bar in entry["bars"])
    assert [entry["comparison"] for entry in memory.figure_data(reset, None)] == ["state_reset"] * 2
    with pytest.raises(BadInput, match="no blackout of 25"):
        memory.figure_data(reset, control, blackout=25)
