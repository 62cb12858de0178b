"""Saves by parameters: drawn where families of other widths meet one reference, and only there."""

from dataclasses import replace
from pathlib import Path

import pytest
import synthetic_tables

from blindsave.evidence import tables
from blindsave.report.analysis import Analysis, analyse
from blindsave.report.figures import smallest
from blindsave.report.results import read_results
from blindsave.stages.planning import write_plan
from blindsave.stages.site import Site
from blindsave.stages.study_file import read_study_file

RATES = {
    "structured_k0": 1.0,
    "structured_k0_n8_e16_c8_h16": 0.9,
    "structured_k0_n16_e16_c16_h16": 1.0,
    "gru_n8_e16_c8_h16": 0.97,
    "teacher": 1.02,
}


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Analysis:
    folder: Path = tmp_path_factory.mktemp("small")
    families = [name for name in RATES if name != "teacher"]
    (folder / "small.toml").write_text(f"families = {families}\nmethod = 'mrmc'", encoding="utf-8")
    site = Site(folder, read_study_file(folder / "small.toml").scale)
    write_plan(site)
    made = synthetic_tables.random_table(RATES, site.scale.training_seeds, blackouts=(0, 20), split="sealed_test")
    tables.write(made, site.results / "test" / "sealed_test.parquet")
    return analyse(read_results(site.results), 200)


def test_every_family_is_compared_with_the_reference_and_drawn(small: Analysis):
    test = small.main
    assert test is not None
    assert set(smallest.against_one(test)) == set(RATES) - {"structured_k0", "teacher"}
    plate = smallest.smallest(small, test)
    assert plate is not None and "2,084" in plate.caption and "k = 0" in plate.caption


def test_the_papers_study_has_no_such_figure(analysis: Analysis):
    test = analysis.main
    assert test is not None
    assert smallest.smallest(analysis, test) is None


def test_two_references_make_no_curve(small: Analysis):
    test = small.main
    assert test is not None
    one, *rest = test.contrasts["primary"]
    other = replace(one, b="gru_n8_e16_c8_h16")
    assert smallest.against_one(replace(test, contrasts={"primary": (other, *rest)})) == {}
