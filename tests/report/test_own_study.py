"""Reports of studies that the paper did not make: own families, sizes, many families."""

import itertools
from pathlib import Path

import pytest
import synthetic_tables
from figure_texts import overlaps

from blindsave.draw.palette import separation
from blindsave.evidence import tables
from blindsave.report import claims, summary
from blindsave.report.analysis import Analysis, analyse
from blindsave.report.build import tables as sheets
from blindsave.report.figures import export
from blindsave.report.figures.forest import drawn_differences
from blindsave.report.page import page
from blindsave.report.registry import figures
from blindsave.report.results import read_results
from blindsave.stages.planning import write_plan
from blindsave.stages.site import Site
from blindsave.stages.study_file import read_study_file

OWN = {"lru_n24": 0.93, "mingru_n16": 0.72, "structured_k0_n16": 0.97, "gru_n16": 0.9, "teacher": 1.02}
SIZES = {"structured_k0": 1.0, "structured_k0_n16": 0.95, "gru_n16": 0.7, "gru_n64": 0.98, "teacher": 1.02}


def analysed(folder: Path, rates: dict[str, float], text: str = "", noise: bool = False) -> Analysis:
    """The statistics of a made-up study of these families, as its study file plans them."""
    families = [name for name in rates if name != "teacher"]
    (folder / "mine.toml").write_text(f"families = {families}\n{text}", encoding="utf-8")
    site = Site(folder, read_study_file(folder / "mine.toml").scale)
    write_plan(site)
    seeds = site.scale.training_seeds
    made = synthetic_tables.random_table(rates, seeds, blackouts=(0, 10, 20), split="sealed_test")
    tables.write(made, site.results / "test" / "sealed_test.parquet")
    if noise:
        kinds = ("clean", "noise_5mm")
        made = synthetic_tables.random_table(rates, seeds, blackouts=(20,), disturbances=kinds, split="noise_test")
        tables.write(made, site.results / "noise" / "noise_test.parquet")
    return analyse(read_results(site.results), 200)


@pytest.fixture(scope="module")
def own(tmp_path_factory) -> Analysis:
    return analysed(tmp_path_factory.mktemp("own"), OWN)


@pytest.fixture(scope="module")
def sizes(tmp_path_factory) -> Analysis:
    return analysed(tmp_path_factory.mktemp("sizes"), SIZES)


def said(analysis: Analysis) -> list[str]:
    return summary.sentences(analysis, claims.findings(analysis))


def plates(analysis: Analysis) -> dict[str, export.Plate]:
    return {plate.name: plate for plate in figures.made(analysis)}


def words(panel: export.Panel, analysis: Analysis) -> set[str]:
    """Every text that a panel shows."""
    from dataclasses import replace

    from matplotlib import rc_context
    from matplotlib.text import Text

    with rc_context(export.rc(export.LIGHT)):
        figure = export.blank(*panel.size)
        panel.draw(figure, replace(export.LIGHT, looks=analysis.looks))
        return {text.get_text() for text in figure.findobj(Text)}


def test_the_main_figure_shows_every_family_that_played(own: Analysis):
    full, _, forest = plates(own)["figure-3"].panels
    assert words(full, own) >= {"LRU-24", "minGRU-16", "Linear-16", "GRU-16", "Teacher"}
    assert words(forest, own) >= {"minGRU-16 − LRU-24", "Linear-16 − LRU-24", "GRU-16 − LRU-24"}


def test_every_family_of_a_study_has_its_own_colour_on_the_page(own: Analysis):
    light = [one.light for one in own.looks.values()]
    assert len(set(light)) == len(OWN)
    for one, other in itertools.combinations(own.looks.values(), 2):
        assert separation((one.light, one.dark), (other.light, other.dark)) > 0.06
    document = page(own, sheets(own), plates(own).values(), claims.findings(own))
    for name in OWN:
        assert f"--s-{name.replace('_', '-')}:{own.looks[name].light}" in document
    panel = document.partition('id="figure-3"')[2].partition("</figure>")[0]
    assert "var(--s-lru-n24)" in panel and own.looks["lru_n24"].light not in panel


def test_titles_are_made_from_the_core(own: Analysis):
    column = [row[0] for row in sheets(own)["table-1"].rows]
    assert column == [
        "Linear memory, 16 units",
        "GRU, 16 units",
        "LRU, 24 oscillators",
        "minGRU, 16 units",
        "Teacher",
    ]


def test_in_short_names_the_best_and_what_differs(own: Analysis):
    rates, differ, *rest = said(own)
    assert "Linear memory, 16 units saved most (" in rates and "the teacher saved" in rates
    assert differ.startswith("Against LRU, 24 oscillators: clearly more saves by Linear memory, 16 units (+")
    assert "; clearly fewer saves by minGRU, 16 units (−" in differ
    assert "no clear difference for" in differ and "within ±2 points" in differ
    assert not any(sentence.startswith("Size") for sentence in rest)


def test_differences_are_in_the_table(own: Analysis):
    assert {(row[0], row[1]) for row in sheets(own)["contrasts"].rows} == {
        (f"{name} − LRU-24", "primary") for name in ("minGRU-16", "Linear-16", "GRU-16")
    }


def test_a_study_of_sizes_shows_and_says_what_size_does(sizes: Analysis):
    assert "Linear memory saved" in said(sizes)[2] and "GRU saved more shots with 64 than with 16 (+" in said(sizes)[2]
    (panel,) = plates(sizes)["figure-sizes"].panels
    assert words(panel, sizes) >= {"Linear memory", "GRU", "Teacher", "16", "64"}


def test_without_sizes_there_is_no_figure_of_them(own: Analysis, analysis: Analysis):
    assert "figure-sizes" not in plates(own)
    assert "figure-sizes" not in plates(analysis)


def test_the_figure_of_sizes_needs_no_teacher(tmp_path):
    rates = {name: rate for name, rate in SIZES.items() if name != "teacher"}
    plate = plates(analysed(tmp_path, rates))["figure-sizes"]
    assert "teacher" not in plate.caption
    export.inline(plate.panels[0])


def test_own_differences_are_drawn_and_told_for_the_papers_families_too(tmp_path):
    rates = {"feed_forward": 0.5, "structured_k0": 0.97, "gru_n64": 0.95, "teacher": 1.0}
    found = analysed(tmp_path, rates, '[contrasts]\nprimary = [["gru_n64", "feed_forward"]]')
    test = found.main
    assert test is not None
    large, small = drawn_differences(found, test)
    assert [(c.a, c.b) for c in large] == [("gru_n64", "feed_forward")] and small == []
    assert said(found)[1].startswith("GRU-64 saved clearly more than Feed-forward (+")


def test_the_noise_tables_and_sentences_follow_the_plan(tmp_path):
    found = analysed(tmp_path, OWN, '[disturbances]\npolicies = "all"', noise=True)
    column = [row[0] for row in sheets(found)["noise-contrasts"].rows]
    assert "minGRU-16 − LRU-24" in column and "LRU-24 − Teacher" in column
    assert any(
        sentence.startswith("Under 5 mm of tracking noise minGRU, 16 units saved clearly less than LRU, 24 oscillators")
        for sentence in said(found)
    )


def test_many_families_are_named_in_a_legend_and_the_largest_differences_drawn(tmp_path):
    rates = {f"{core}_n{size}": 0.6 + size / 200 for core in ("gru", "lru", "mingru") for size in range(8, 58, 5)}
    found = analysed(tmp_path, rates | {"teacher": 1.0})
    plate = plates(found)["figure-3"]
    assert words(plate.panels[0], found) >= {"GRU-8", "LRU-53", "minGRU-28", "Teacher"}
    assert "(the 24 largest of" in plate.caption
    assert "saved most of 30 families" in said(found)[0]


def test_one_family_alone_is_reported(tmp_path):
    found = analysed(tmp_path, {"gru_n16": 0.9, "teacher": 1.0})
    assert "GRU, 16 units saved " in said(found)[0]
    assert [panel.name for panel in plates(found)["figure-3"].panels] == ["f3a", "f3b"]
    page(found, sheets(found), plates(found).values(), claims.findings(found))


def test_no_label_of_an_own_study_covers_another(own: Analysis, sizes: Analysis):
    for found in (own, sizes):
        for plate in plates(found).values():
            for panel in plate.panels:
                for size in {panel.size, panel.page_size or panel.size}:
                    assert overlaps(panel, size, found.looks) == [], (panel.name, size)


def test_need_of_memory_is_claimed_only_where_it_was_shown(analysis: Analysis):
    from dataclasses import replace

    (drop,) = (c for c in analysis.memory["teacher_reset"] if c.blackout == analysis.endpoint)
    assert any(sentence.startswith("The task needs memory") for sentence in said(analysis))
    none = replace(analysis, memory={"teacher_reset": (replace(drop, estimate=0.0, low=0.0, high=0.0),)})
    assert any(sentence.startswith("No need of memory was shown") for sentence in said(none))
