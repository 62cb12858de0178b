"""The report of a study says which study it is."""

from dataclasses import replace
from pathlib import Path

import pytest
import tiny_study

from blindsave.errors import BlindsaveError
from blindsave.stages.reporting import make_report, report, statement
from blindsave.stages.scales import PAPER, QUICK, SMOKE
from blindsave.stages.study_file import read_study_file


def read(folder, text):
    (folder / "mine.toml").write_text(text)
    return read_study_file(folder / "mine.toml")


def test_the_report_says_which_study_it_is(tmp_path):
    said = statement(read(tmp_path, 'families = ["gru_n8"]').scale)
    assert said.startswith('This is the study "mine" of a study file: 1 family, 2 training seeds')
    assert "The principal test was not opened" in said
    opened = statement(read(tmp_path, 'test_splits = ["principal_test"]').scale)
    assert "opened the published principal test" in opened
    assert statement(PAPER) == ""


def test_a_preset_says_that_its_budgets_are_reduced():
    said = statement(SMOKE)
    assert said.startswith("This is a smoke study at reduced budgets: 2 families, 1 training seed, 300 base and 300")
    assert "so students may save less here" in said
    assert "2,000 base" in statement(QUICK)


def test_a_study_of_the_papers_size_under_another_name_says_both():
    said = statement(replace(PAPER, name="mine"))
    assert said.startswith('This is the study "mine" of a study file: 7 families')
    assert "20,000 base and 20,000 shadow episodes per family, at most 100 epochs, as in the paper." in said
    assert "so rates need not agree with it" in statement(replace(PAPER, name="mine", epochs=99))


def test_the_main_study_of_the_repository_says_what_it_is():
    """Its report shows the sentence; made anew, it would say the same."""
    repository = Path(__file__).parents[2]
    scale = read_study_file(repository / "docs" / "studies" / "main.toml").scale
    assert (repository / "results" / "statement.md").read_text() == statement(scale) + "\n"


def test_a_report_is_one_task_whatever_the_scale():
    for scale in (SMOKE, PAPER):
        (task,) = report(scale)
        assert (task.work, dict(task.cost)) == (make_report, {"report": 1})


def test_a_folder_without_evidence_is_not_reported(tmp_path):
    with pytest.raises(BlindsaveError):
        make_report(tiny_study.site(tmp_path))
    assert not list(tmp_path.rglob("*.html"))
