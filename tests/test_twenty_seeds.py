"""The study with twenty training seeds as it is shipped: sealed, whole but for named students, and told as it is."""

import json
from pathlib import Path

import numpy as np
import pytest
from page_tools import page_tool

from blindsave.evidence import mrmc
from blindsave.report.analysis import analyse
from blindsave.report.results import read_results
from blindsave.stages.study_file import read_study_file
from blindsave.verify import verify
from blindsave.verify.replay import Replay

REPOSITORY = Path(__file__).parents[1]
TOOL = page_tool("twenty")
PAGE = (REPOSITORY / "docs" / "statistics.md").read_text("utf-8")
SEEDS = tuple(range(14303, 14323))


@pytest.fixture(scope="module")
def found():
    return analyse(read_results(TOOL.STUDY))


@pytest.fixture(scope="module")
def held(found):
    return found.splits["sealed_test"].saves


def test_its_plan_asks_for_full_budgets_and_ten_times_the_papers_shots():
    scale = read_study_file(REPOSITORY / "docs" / "studies" / "twenty-seeds.toml").scale
    assert (scale.base_episodes, scale.shadow_episodes, scale.training_seeds) == (20_000, 20_000, SEEDS)
    assert scale.sealed_times == 10 and set(scale.families) == set(TOOL.FAMILIES)


def test_it_verifies_row_by_row_and_names_the_students_that_are_not_shipped():
    checked = verify(TOOL.STUDY, replay=Replay(40))
    assert checked.ok, checked.failures
    left_out = set(json.loads((TOOL.STUDY / "left_out.json").read_text())["files"])
    names = {f"models/students/{family}/{seed}.safetensors" for family in TOOL.FAMILIES for seed in SEEDS[1:]}
    assert left_out == names
    groups = json.loads((TOOL.STUDY / "freeze.json").read_text())["body"]["groups"]
    assert names <= {name for group in groups.values() for name in group}


def test_every_student_met_every_shot(held):
    assert len(held.shot_ids) == 2250 and held.blackouts == (20,)
    assert all(held.at(name, 20).shape == (20, 2250) and held.seeds[name] == SEEDS for name in TOOL.FAMILIES)


def test_the_difference_asked_about_is_known_to_less_than_half_a_point(found, held):
    gated = found.splits["sealed_test"].principal.difference("gru_n64", "structured_k0", 20)
    assert (gated.high - gated.low) / 2 <= 0.004
    # From the rows: a two-way analysis of variance over seeds and units, written out.
    sizes = held.unit_sizes()
    table = (held.by_unit("gru_n64", 20) - held.by_unit("structured_k0", 20)) * len(sizes) / sizes.sum()
    assert gated.estimate == pytest.approx(table.mean())
    table = table - gated.estimate * sizes * len(sizes) / sizes.sum()
    assert (gated.low, gated.high) == pytest.approx(mrmc.ends(np.asarray(gated.estimate), mrmc.spread(table)))


def test_the_page_says_what_was_asked_and_what_came_out(found):
    assert TOOL.rates_table(found) in PAGE and TOOL.verdicts_table(found) in PAGE
    assert len(found.verdicts) == 5


def test_small_studies_were_drawn_from_this_table(found, held):
    kept = json.loads(TOOL.SMALL.read_text("utf-8"))
    assert TOOL.small_table(kept) in PAGE
    for name, (a, b) in TOOL.DIFFERENCES.items():
        whole = held.at(a, 20).mean() - held.at(b, 20).mean()
        assert [one["seeds"] for one in kept["differences"][name]] == list(TOOL.SIZES)
        assert all(one["difference"] == pytest.approx(whole) for one in kept["differences"][name])


def test_readme_says_both_differences(found):
    readme = " ".join((REPOSITORY / "README.md").read_text("utf-8").split())
    gated, window = (found.splits["sealed_test"].principal.difference(a, b, 20) for a, b in TOOL.DIFFERENCES.values())
    assert f"gated minus linear is {abs(100 * gated.estimate):.2f} {ends(gated)}" in readme
    assert f"linear minus the window of ten {100 * window.estimate:+.2f} {ends(window)}" in readme


def test_the_page_says_who_fails_where(held):
    support = {name: 100 * held.at(name, 20)[:, ~held.is_alias].mean() for name in TOOL.FAMILIES}
    page = " ".join(PAGE.split())
    assert (
        f"{support['finite_stack_10']:.1f} % of the support shots, where k = 0 saves {support['structured_k0']:.1f} %"
        in page
    )
    assert all(held.at(name, 20)[:, held.is_alias].all() for name in TOOL.FAMILIES[1:])


def ends(contrast) -> str:
    return f"[{100 * contrast.low:.2f}, {100 * contrast.high:.2f}]"
