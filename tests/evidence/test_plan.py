import pytest
from sealed_study import REPOSITORY, Study

from blindsave.errors import BadFile
from blindsave.evidence import resample
from blindsave.evidence.deviations import SEEDS_IN_USE
from blindsave.evidence.plan import load_plan
from blindsave.evidence.strata import NOISE_PAIRS, SUBGROUP_PAIRS


@pytest.fixture(scope="module")
def plan():
    return load_plan(REPOSITORY / "protocol.toml")


def test_the_plan_is_the_study(plan):
    assert len(plan.families) == 7
    assert len(plan.runs) == 36
    assert plan.grids["principal_test"].schedule().layout.blackouts == (0, 5, 10, 15, 20, 25)
    assert sum(len(plan.policies("noise_test")[name]) for name in plan.policies("noise_test")) == 16
    assert len(plan.grids["noise_test"].schedule()) == 1350
    assert (plan.blackout, plan.margin, plan.replicates) == (20, 0.02, resample.REPLICATES)


def test_the_code_uses_the_planned_seeds_and_pairs(plan):
    assert {name: plan.seed(name) for name in SEEDS_IN_USE} == SEEDS_IN_USE
    assert plan.contrasts["subgroups"] == SUBGROUP_PAIRS
    assert plan.contrasts["noise"] == NOISE_PAIRS
    assert len(plan.contrasts["primary"]) == 4
    assert len(plan.contrasts["secondary"]) == 14


def test_every_planned_checkpoint_has_its_own_path(plan):
    paths = {plan.checkpoint(policy, seed) for policy, seed in plan.runs}
    assert len(paths) == 36
    assert "models/students/gru_n64/14307.safetensors" in paths


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("schema =", "scheme =", "schema"),
        ("title =", "name =", "title"),
        ('a = "structured_k0"\nb = "feed_forward"', 'a = "structured_k9"\nb = "feed_forward"', "structured_k9"),
        ('kind = "equivalence"', 'kind = "hope"', "rank-1"),
        ("blackout = 20", "blackout = 19", "19 steps"),
        ('split = "noise_test"', 'split = "fog_test"', "fog_test"),
        ('id = "window"', 'id = "memory"', "memory"),
    ],
)
def test_a_plan_that_contradicts_itself_is_refused_by_name(tmp_path, old, new, words):
    text = (REPOSITORY / "protocol.toml").read_text()
    assert old in text
    (tmp_path / "protocol.toml").write_text(text.replace(old, new))
    with pytest.raises(BadFile, match=words):
        load_plan(tmp_path / "protocol.toml")


def test_unreadable_plans_are_named(tmp_path):
    with pytest.raises(BadFile, match=r"none\.toml cannot be read"):
        load_plan(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("[")
    with pytest.raises(BadFile, match=r"bad\.toml is not a plan"):
        load_plan(tmp_path / "bad.toml")


def test_the_tiny_study_of_these_tests_is_a_valid_plan(tmp_path):
    plan = Study(tmp_path).prepare().plan
    assert plan.policies("noise_test") == {"structured_k0": (14303, 14304), "teacher": (0,)}
