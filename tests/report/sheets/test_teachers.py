"""Tables of several teachers."""

from placed_teachers import placed

from blindsave.report.analysis import Analysis
from blindsave.report.sheet import comma_separated, markdown
from blindsave.report.sheets.teachers import correlations, teachers

THREE = (placed(7303, 0.036, 2.2, "terminate"), placed(7304, 0.032, 1.2), placed(7305, 0.034, -0.5))


def test_every_teacher_has_a_row_and_the_papers_is_the_last(analysis: Analysis):
    lines = comma_separated(teachers(analysis, THREE)).splitlines()
    assert [line.split(",")[0] for line in lines] == ["teacher", "seed 7303", "seed 7304", "seed 7305", "paper"]
    assert "terminate" in lines[1] and "truncate" in lines[2] and "12.36" in lines[-1] and "0.073" in lines[-1]


def test_correlations_state_how_little_three_teachers_can_say(analysis: Analysis):
    said = markdown(correlations(analysis, THREE))
    (variance,) = [line for line in said.splitlines() if line.startswith("| Label variance")]
    cells = [cell.strip() for cell in variance.split("|")[1:-1]]
    assert cells[1:] == ["3", "+0.50", "1.000", "1.000", "0.333"]
    (same,) = [line for line in said.splitlines() if "400 ms (points)" in line]
    assert same.count("–") >= 4  # it does not vary, so nothing is said of it


def test_a_study_without_fingerprints_has_neither_table_nor_figure(analysis: Analysis, sheets):
    assert analysis.teachers is None and not {"teachers", "teacher-correlations"} & sheets.keys()
