"""The table of the memory tests."""

from dataclasses import replace

from blindsave.report.analysis import Analysis
from blindsave.report.sheet import Number, Sheet
from blindsave.report.sheets import task


def test_memory_table_shows_that_a_reset_changes_nothing_when_nothing_is_hidden(sheets: dict[str, Sheet]):
    first = sheets["memory"].rows[0]
    assert first[0] == "Teacher, state erased" and first[1] == 0
    assert isinstance(first[2], Number) and isinstance(first[3], Number) and first[2] == first[3]


def test_exact_counts_account_for_the_difference(sheets: dict[str, Sheet]):
    for row in sheets["memory"].rows:
        teacher, other, difference, only_teacher, only_other = row[2], row[3], row[4], row[6], row[7]
        assert abs(difference.value - (teacher.value - other.value)) < 1e-9
        assert abs(100 * (only_teacher - only_other) / 225 - difference.value) < 1e-9


def test_every_test_is_named_once_and_has_all_lengths(sheets: dict[str, Sheet]):
    rows = sheets["memory"].rows
    assert [row[0] for row in rows if row[0]] == ["Teacher, state erased", "Memoryless PPO"]
    assert [row[1] for row in rows] == [0, 100, 200, 300, 400] * 2


def test_without_memory_tests_there_is_no_table(analysis: Analysis):
    assert task.memory_tests(replace(analysis, memory={}, memory_saves={})) is None
