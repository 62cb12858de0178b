"""What a study asks of its results: its file's own words, the published plan's, or the usual questions."""

import json
import tomllib
from pathlib import Path

import pytest

from blindsave import cli
from blindsave.errors import BadInput, BlindsaveError
from blindsave.evidence.plan import load_plan
from blindsave.policies.catalog import control_files, student_file
from blindsave.stages.planning import plan_text, published_plan, reduced, write_plan
from blindsave.stages.scales import PAPER, QUICK, SMOKE, Scale
from blindsave.stages.site import Site
from blindsave.stages.study_file import read_study_file

FAMILIES = 'families = ["lru_n24", "structured_k0_n16", "gru_n16"]\n'
SIZES = 'families = ["structured_k0", "gru"]\nstate_sizes = [16, 64]\n'
ASKED = """
margin_points = 5
method = "mrmc"

[contrasts]
primary = [["gru_n16", "lru_n24"], ["gru_n16", "teacher"]]

[[hypotheses]]
id = "gates"
statement = "gates help"
a = "gru_n16"
b = "lru_n24"

[[hypotheses]]
kind = "equivalence"
a = "structured_k0_n16"
b = "teacher"
blackout = 0

[[hypotheses]]
a = "gru_n16"
b = "teacher"
split = "noise_test"
disturbance = "noise_5mm"

[disturbances]
policies = "all"
"""


def read(folder: Path, text: str) -> Scale:
    (folder / "mine.toml").write_text(text, encoding="utf-8")
    return read_study_file(folder / "mine.toml").scale


def planned(scale: Scale) -> dict:
    return reduced(tomllib.loads(published_plan().read_text(encoding="utf-8")), scale)


def test_families_nobody_published_are_compared_with_the_first(tmp_path):
    contrasts = planned(read(tmp_path, FAMILIES))["contrasts"]
    assert contrasts["primary"] == [["structured_k0_n16", "lru_n24"], ["gru_n16", "lru_n24"]]
    assert contrasts["secondary"] == []
    assert ["lru_n24", "teacher"] in contrasts["subgroups"]


def test_sizes_are_compared_with_the_largest_of_their_core(tmp_path):
    contrasts = planned(read(tmp_path, SIZES))["contrasts"]
    assert contrasts["primary"] == [[n, "structured_k0"] for n in ("structured_k0_n16", "gru_n16", "gru_n64")]
    assert contrasts["secondary"] == [["gru_n16", "gru_n64"]]
    assert contrasts["noise"] == [["gru_n64", "structured_k0"], ["structured_k0", "teacher"]]


def test_a_named_reference_takes_the_place_of_the_usual_one(tmp_path):
    scale = read(tmp_path, 'reference = "gru_n64"\n')
    assert planned(scale)["contrasts"]["primary"] == [
        [name, "gru_n64"] for name in ("feed_forward", "finite_stack_10", "structured_k0")
    ]


@pytest.mark.parametrize("scale", [SMOKE, QUICK, PAPER], ids=lambda scale: scale.name)
def test_the_presets_keep_the_published_questions(scale):
    document = tomllib.loads(published_plan().read_text(encoding="utf-8"))
    known = {*scale.families, "teacher"}
    asked = planned(scale)
    for name, pairs in document["contrasts"].items():
        assert asked["contrasts"][name] == [pair for pair in pairs if set(pair) <= known]
    chosen = {name: value for name, value in document["statistics"].items() if name != "method"}
    assert asked["statistics"] == chosen, "the published study's method is its own: two seeds are too few for it"
    assert asked["endpoint"]["equivalence_margin_points"] == 2.0
    assert "questions" not in scale.to_dict()


def test_the_files_own_questions_are_the_plans(tmp_path):
    scale = read(tmp_path, FAMILIES + ASKED)
    plan = load_plan(write_plan(Site(tmp_path / "study", scale)))
    assert plan.contrasts == {"primary": (("gru_n16", "lru_n24"), ("gru_n16", "teacher"))}
    assert (plan.margin, plan.method) == (0.05, "mrmc")
    gates, equal, noise = plan.hypotheses
    assert (gates.id, gates.kind, gates.statement) == ("gates", "superiority", "gates help")
    assert (equal.id, equal.kind, equal.blackout) == ("structured_k0_n16-teacher", "equivalence", 0)
    assert [plan.asked_at(one) for one in plan.hypotheses] == [20, 0, 20]
    assert equal.statement == "structured_k0_n16 saves as many blind shots as teacher"
    assert (noise.split, noise.disturbance) == ("noise_test", "noise_5mm")


def test_questions_reach_other_processes(tmp_path):
    site = Site(tmp_path / "study", read(tmp_path, FAMILIES + ASKED))
    again = Site.from_dict(json.loads(json.dumps(site.to_dict())))
    assert again.scale == site.scale and hash(again.scale) == hash(site.scale)
    assert plan_text(again) == plan_text(site)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("reference = 'gru_n8'", "`reference` names `gru_n8`, which is not among the study's families"),
        ("reference = 5", "`reference` must be text in quotes, not 5"),
        ("reference = 'gru_n16'\n[contrasts]\nprimary = []", "`reference` changes nothing where [contrasts]"),
        ("margin_points = 0", "`margin_points` must be between 0.01 and 50, not 0"),
        ("margin_points = 'two'", '`margin_points` must be a number, not "two"'),
        ("method = 'anova'", '`method` must be one of bootstrap, mrmc, not "anova"'),
        ("contrasts = []", "`contrasts` must be a table, not []"),
        ("[contrasts]", "name at least one set of primary, secondary, subgroups, noise"),
        ("[contrasts]\nmain = []", "there is no set `main`; there are primary"),
        ("[contrasts]\nprimary = ['gru_n16']", "`primary` must be a list of pairs"),
        ("[contrasts]\nprimary = [['gru_n16', 'gru_n8']]", '`primary` names "gru_n8", which does not take part'),
        ("[contrasts]\nprimary = [['gru_n16', 3]]", "`primary` names 3, which does not take part"),
        ("[contrasts]\nprimary = [['gru_n16', ['x']]]", "`primary` names ['x'], which does not take part"),
        ("[contrasts]\nprimary = [['gru_n16', 'gru_n16']]", '`primary` compares "gru_n16" with itself'),
        ("[contrasts]\nnoise = [['gru_n16', 'teacher']]", '`noise` names "gru_n16", which is not disturbed'),
        ("hypotheses = 'all'", "`hypotheses` must be tables, each begun with its name in double brackets"),
        ("[[hypotheses]]\na = 'gru_n16'", "hypothesis 1: `a` and `b` must name the two policies"),
        ("[[hypotheses]]\na = 'gru_n16'\nb = 'gru_n8'", "hypothesis 1: `b` must be one of lru_n24"),
        ("[[hypotheses]]\na = 'gru_n16'\nb = 'teacher'\nkind = 'better'", "`kind` must be one of superiority"),
        ("[[hypotheses]]\na = 'gru_n16'\nb = 'teacher'\nwhy = 'x'", "there is no key `why`; there are id"),
        ("[[hypotheses]]\na = 'gru_n16'\nb = 'teacher'\n" * 2, 'two `hypotheses` have the `id` "gru_n16-teacher"'),
        ("[[hypotheses]]\na = 'gru_n16'\nb = 'teacher'\nsplit = 'validation'", "`split` must be one of sealed_test"),
        ("[[hypotheses]]\na = 'gru_n16'\nb = 'teacher'\nsplit = 'noise_test'", "`disturbance` must be one of clean"),
        ("[[hypotheses]]\na = 'gru_n16'\nb = 'teacher'\ndisturbance = 'noise_5mm'", "`disturbance` belongs to"),
        (
            "[[hypotheses]]\na = 'gru_n16'\nb = 'teacher'\nblackout = 3",
            "`blackout` must be one of 0, 5, 10, 15, 20, not 3",
        ),
        ("[[hypotheses]]\na = 'gru_n16'\nb = 'teacher'\nblackout = true", "`blackout` must be a whole number, not"),
        (
            "[[hypotheses]]\na = 'gru_n16'\nb = 'teacher'\nsplit = 'noise_test'\ndisturbance = 'noise_5mm'",
            "`split` is the noise test, where gru_n16 has no part",
        ),
    ],
)
def test_every_mistake_is_one_sentence_that_names_the_key(tmp_path, text, sentence):
    with pytest.raises(BlindsaveError) as caught:
        read(tmp_path, FAMILIES + text)
    said = str(caught.value)
    assert sentence in said and "mine.toml" in said and "\n" not in said


@pytest.mark.parametrize("file", [student_file("gru_n64", 14303), control_files()[0]], ids=["student", "ppo"])
def test_a_teacher_that_is_none_is_refused_before_any_stage(tmp_path, file):
    with pytest.raises(BadInput, match=r"`--teacher` cannot be .*, which holds"):
        cli.execute(["study", "--scale", "smoke", "--folder", str(tmp_path / "study"), "--teacher", str(file)])
    assert not (tmp_path / "study").exists()
