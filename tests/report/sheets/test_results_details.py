"""Tables that the page folds away."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
from report_sheets import place

from blindsave.report.analysis import Analysis
from blindsave.report.sheet import Mark, Sheet
from blindsave.report.sheets import results_details


def test_seed_table_counts_shots(sheets: dict[str, Sheet]):
    rows = sheets["seeds"].rows
    assert rows[0] == ("Feed-forward", "14303", 220, 205, 171, 127, 70, 55)
    assert rows[1][0] == ""
    assert rows[-1][:3] == ("Teacher", None, 224)


def test_outcome_rows_add_up_to_all_episodes(sheets: dict[str, Sheet]):
    for row in sheets["outcomes"].rows[:6]:
        assert sum(n for n in row[2:] if isinstance(n, int)) == 1125


def test_both_tests_stand_side_by_side_and_are_judged(sheets: dict[str, Sheet], analysis: Analysis):
    table = sheets["sealed"]
    assert len(table.rows) == 8 * 6
    agree = place(table, "agree")
    for row in table.rows:
        one, other = row[2], row[3]
        if abs(one.value - other.value) < 0.05:
            assert row[agree] == Mark("yes", "good")
    assert {row[agree].text for row in table.rows} <= {"yes", "no"}


def test_gaps_are_the_teachers_rate_minus_the_students(sheets: dict[str, Sheet], analysis: Analysis):
    gaps, test = sheets["teacher-gaps"], analysis.main
    assert test is not None
    first = gaps.rows[0]
    expected = 100 * float(test.saves.at("teacher", 20).mean() - test.saves.at("feed_forward", 20).mean())
    assert first[0] == "Feed-forward" and abs(first[place(gaps, "gap_20")].value - expected) < 1e-9
    assert all(row[0] != "Teacher" for row in gaps.rows)


def test_without_a_teacher_there_are_no_gaps(analysis: Analysis):
    test = analysis.main
    assert test is not None
    saved = {name: cells for name, cells in test.saves.saved.items() if name != "teacher"}
    alone = replace(test, saves=replace(test.saves, saved=saved))
    assert results_details.teacher_gaps(analysis, alone) is None


def test_subgroups_are_compared_from_the_endpoint_on(sheets: dict[str, Sheet], analysis: Analysis):
    names = [column.name for column in sheets["subgroup-contrasts"].columns[1:]]
    assert names == ["alias_20", "alias_25", "support_20", "support_25"]
    test = analysis.main
    assert test is not None
    assert results_details.subgroup_contrasts(replace(analysis, endpoint=99), test) is None


def test_unlabelled_actions_have_no_error(sheets: dict[str, Sheet], analysis: Analysis):
    test = analysis.main
    assert test is not None
    assert "action-error" not in sheets
    column = test.table.schema.get_field_index("action_mse")
    labels = pa.array(np.where(np.array(test.table["blackout"]) == 20, 0.25, np.nan), from_pandas=True)
    labelled = test.table.set_column(column, "action_mse", labels)
    rows = results_details.action_errors(analysis, replace(test, table=labelled)).rows
    assert rows and all(row[5].value == 0.25 and row[1] is None for row in rows)


def test_power_says_where_no_number_suffices(sheets: dict[str, Sheet]):
    table = sheets["power"]
    assert len(table.rows) == 4
    for row in table.rows:
        assert row[1].value > 0
        assert all(needed == "no number suffices" or needed > 0 for needed in row[2:])


def test_validation_rates_are_not_shown_twice(analysis: Analysis):
    only = replace(analysis, splits={"validation": analysis.splits["validation"]})
    assert results_details.validation_rates(only) is None
    assert results_details.validation_rates(replace(analysis, splits={})) is None
    assert results_details.validation_rates(analysis) is not None
