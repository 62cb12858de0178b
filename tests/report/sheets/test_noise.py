"""Tables of the noise extension."""

from dataclasses import replace

from blindsave.report.analysis import Analysis
from blindsave.report.sheet import Sheet
from blindsave.report.sheets import noise


def test_noise_table_sets_the_paper_below_ours(sheets: dict[str, Sheet]):
    table = sheets["noise"]
    assert [c.group for c in table.columns[1:]] == ["No blackout"] * 3 + ["400 ms blackout"] * 3
    assert [row[0].strip() for row in table.rows[:2]] == ["Structured k = 0", "paper"]
    assert table.rows[1][6].point == "98.5"


def test_differences_and_effects_of_noise_are_listed_by_condition(sheets: dict[str, Sheet]):
    rows = sheets["noise-contrasts"].rows
    effects = [row for row in rows if row[0].endswith("noisy − clean")]
    assert len(effects) == 4 * 2 * 2
    assert {row[1] for row in effects} == {
        "0 ms, noise 1 mm",
        "0 ms, noise 5 mm",
        "400 ms, noise 1 mm",
        "400 ms, noise 5 mm",
    }
    assert "0 ms" in {row[1] for row in rows}
    assert [column.title for column in sheets["noise-contrasts"].columns[2:]] == [
        "All shots",
        "Alias shots",
        "Support shots",
    ]


def test_without_a_clean_level_there_is_no_effect_of_noise(analysis: Analysis):
    found = analysis.noise
    assert found is not None
    noisy = replace(found, saves=replace(found.saves, disturbances=("noise_1mm", "noise_5mm")))
    rows = noise.noise_contrasts(analysis, noisy).rows
    assert rows and not any(row[0].endswith("noisy − clean") for row in rows)


def test_levels_stand_in_the_order_of_their_size(analysis: Analysis):
    found = analysis.noise
    assert found is not None
    turned = replace(found, saves=replace(found.saves, disturbances=("noise_5mm", "clean", "noise_1mm")))
    assert [column.title for column in noise.noise_rates(analysis, turned).columns[1:]] == ["0", "1", "5"] * 2
