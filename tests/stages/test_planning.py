"""The analysis plan of a study: the published one, or the same cut down to what the study plays."""

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
import tiny_study

from blindsave.errors import BadInput
from blindsave.evidence.plan import load_plan
from blindsave.stages.planning import plan_text, published_plan, reduced, refuse_other_plan, to_toml, write_plan
from blindsave.stages.questions import Questions
from blindsave.stages.scales import PAPER, QUICK, SMOKE
from blindsave.stages.site import Site
from blindsave.stages.study_file import StudyFile, read_study_file


def read(folder: Path, text: str) -> StudyFile:
    (folder / "mine.toml").write_text(text)
    return read_study_file(folder / "mine.toml")


def test_the_analysis_plan_asks_only_what_is_played(tmp_path):
    published = tomllib.loads(published_plan().read_text())
    families = 'families = ["structured_k0", "gru_n64"]\n'
    usual = reduced(published, read(tmp_path, families).scale)
    assert {h["id"] for h in usual["hypotheses"]} == {"gru", "teacher", "noise-gru"}
    other = read(tmp_path, f"{families}test_blackouts = [0, 40]\n[disturbances]\nnoise_mm = [0, 5]").scale
    plan = reduced(published, other)
    assert plan["endpoint"]["blackout"] == 40
    assert "800 ms" in plan["endpoint"]["statement"]
    assert {h["id"] for h in plan["hypotheses"]} == {"gru", "teacher"}
    weaker = read(tmp_path, f"{families}[disturbances]\nnoise_mm = [0, 1]").scale
    assert {h["id"] for h in reduced(published, weaker)["hypotheses"]} == {"gru", "teacher"}


def test_the_plan_file_survives_writing_and_cutting():
    published = tomllib.loads(published_plan().read_text())
    assert tomllib.loads(to_toml(published)) == published
    assert reduced(published, PAPER)["contrasts"] == published["contrasts"]
    assert {h["id"] for h in reduced(published, SMOKE)["hypotheses"]} == {"memory", "teacher"}


def test_the_paper_scale_has_the_published_plan_to_the_byte_whoever_trains_its_teacher(tmp_path):
    for scale in (PAPER, replace(PAPER, train_teacher=True)):
        path = write_plan(Site(tmp_path, scale))
        assert path.read_bytes() == published_plan().read_bytes()


@pytest.mark.parametrize("scale", [SMOKE, QUICK, replace(PAPER, test_blackouts=(0,)), replace(SMOKE, conditions=())])
def test_a_reduced_plan_can_be_loaded_and_names_what_the_scale_plays(tmp_path, scale):
    plan = load_plan(write_plan(Site(tmp_path, scale)))
    assert tuple(plan.families) == scale.families
    assert tuple(plan.training_seeds) == scale.training_seeds
    assert set(plan.splits) == set(scale.test_splits)
    assert ("noise_test" in plan.grids) == bool(scale.conditions)
    assert plan.blackout in plan.grids["sealed_test"].blackouts


def test_only_a_study_that_opens_the_published_test_binds_times(tmp_path):
    published = tomllib.loads(published_plan().read_text())
    bound = {scale.name: reduced(published, scale)["freeze"]["groups"]["efficiency"] for scale in (PAPER, SMOKE)}
    assert bound["paper"] == published["freeze"]["groups"]["efficiency"]
    assert bound["smoke"] == {"files": ["results/efficiency/accounting.json"]}


def test_cutting_a_plan_leaves_the_published_one_alone():
    published = tomllib.loads(published_plan().read_text())
    before = to_toml(published)
    reduced(published, SMOKE)
    assert to_toml(published) == before


def test_titles_say_which_study_a_plan_is_for():
    published = tomllib.loads(published_plan().read_text())
    assert reduced(published, SMOKE)["title"] == "Which memory does a blind save take? (smoke scale)"
    assert reduced(published, tiny_study.TINY)["title"] == "Which memory does a blind save take? (study tiny)"


def test_a_method_is_the_files_own_and_not_that_of_the_published_study():
    published = tomllib.loads(published_plan().read_text())
    document = published | {"statistics": published["statistics"] | {"method": "mrmc"}}
    assert "method" not in reduced(document, SMOKE)["statistics"]
    asked = replace(tiny_study.TINY, questions=Questions(method="mrmc"))
    assert reduced(published, asked)["statistics"]["method"] == "mrmc"


def test_tables_within_tables_and_letters_of_any_kind_survive_writing():
    document = {"a": '„x“ \\ "y"', "b": {"c": [1, 2.5], "d": {"e": True}}, "f": [{"g": 1}, {"g": 2, "h": {"i": []}}]}
    assert tomllib.loads(to_toml(document)) == document


def test_a_plan_may_change_until_the_test_is_open(tmp_path):
    site = tiny_study.site(tmp_path)
    other = Site(tmp_path, replace(tiny_study.TINY, training_seeds=(14304,)))
    write_plan(site)
    refuse_other_plan(other)
    site.ledger.append("opening", {})
    refuse_other_plan(site)
    with pytest.raises(BadInput, match=f"the test of {tmp_path} was opened for other families, seeds or tests"):
        refuse_other_plan(other)
    assert tomllib.loads(site.plan.read_text()) == tomllib.loads(plan_text(site))
