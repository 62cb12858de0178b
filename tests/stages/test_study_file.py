"""Study files: what they say becomes a scale, what is wrong with them becomes one sentence, and they run."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from blindsave import cli
from blindsave.errors import BadFile, BadInput, BlindsaveError
from blindsave.policies.catalog import model_file
from blindsave.policies.students.student import Student
from blindsave.stages.scales import PAPER, QUICK, SMOKE, Scale
from blindsave.stages.study_file import KEYS, OPENS_PUBLISHED_TEST, StudyFile, read_study_file

RUNNABLE = """
name = "minute"
scale = "smoke"
families = ["finite_stack"]
state_sizes = [2]
base_episodes = 20
shadow_episodes = 20
epochs = 1
batch = 8
memory_shots = 1
validation_blackouts = [7]
test_blackouts = [7]
latency_calls = 10
latency_blocks = 1

[teachers]
frozen = "shipped"

[disturbances]
noise_mm = [2.5]
blackouts = [3]
policies = ["finite_stack"]
"""


def read(folder: Path, text: str, name: str = "mine.toml") -> StudyFile:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read_study_file(path)


def refused(folder: Path, text: str, name: str = "mine.toml") -> str:
    with pytest.raises(BlindsaveError) as caught:
        read(folder, text, name)
    said = str(caught.value)
    assert name in said
    assert "\n" not in said
    return said


def test_an_empty_file_is_the_quick_preset_under_its_own_name(tmp_path):
    assert read(tmp_path, "").scale == replace(QUICK, name="mine")
    assert read(tmp_path, 'scale = "smoke"\nname = "other"').scale == replace(SMOKE, name="other")


def test_a_file_changes_what_it_names_and_nothing_else(tmp_path):
    text = """
        families = ["feed_forward", "gru_n16"]
        training_seeds = [3, 1, 2]
        shadow_episodes = 300
        learning_rate = 0.001
        validation_blackouts = [20, 0]
        test_blackouts = [0, 60, 121]
        memory_shots = "all"
        [disturbances]
        noise_mm = [0, 2.5, 1.0]
        blackouts = [5]
        policies = ["gru_n16", "teacher"]
    """
    expected = replace(
        QUICK,
        name="mine",
        families=("feed_forward", "gru_n16"),
        training_seeds=(3, 1, 2),
        shadow_episodes=300,
        learning_rate=0.001,
        validation_blackouts=(0, 20),
        test_blackouts=(0, 60, 121),
        memory_shots=None,
        conditions=("clean", "noise_1mm", "noise_2.5mm"),
        noise_blackouts=(5,),
        noise_policies=("gru_n16", "teacher"),
    )
    assert read(tmp_path, text).scale == expected


def test_widths_stand_behind_the_size(tmp_path):
    text = 'families = ["structured_k0_e16_c8_h16", "gru_h16", "gru_n3_e9"]\nstate_sizes = [4, 64]'
    assert read(tmp_path, text).scale.families == (
        "structured_k0_n4_e16_c8_h16",
        "structured_k0_e16_c8_h16",
        "gru_n4_h16",
        "gru_n64_h16",
        "gru_n3_e9",
    )


def test_kinds_come_in_every_size_and_sized_families_as_they_are(tmp_path):
    text = 'families = ["feed_forward", "structured_k2", "gru", "finite_stack", "lru_n8"]\nstate_sizes = [64, 16]'
    assert read(tmp_path, text).scale.families == (
        "feed_forward",
        "structured_k2_n16",
        "structured_k2",
        "gru_n16",
        "gru_n64",
        "finite_stack_16",
        "finite_stack_64",
        "lru_n8",
    )


def test_seeds_can_be_counted(tmp_path):
    text = "training_seeds = { first = 14303, count = 50 }"
    assert read(tmp_path, text).scale.training_seeds == tuple(range(14303, 14353))


def test_noise_can_be_for_all_or_left_out(tmp_path):
    everybody = read(tmp_path, 'families = ["gru"]\nstate_sizes = [8]\ndisturbances = { policies = "all" }').scale
    assert everybody.noisy == ("gru_n8", "teacher")
    assert read(tmp_path, "disturbances = { noise_mm = [] }").scale.conditions == ()


def test_only_a_file_that_says_so_opens_the_published_test(tmp_path):
    silent = read(tmp_path, 'scale = "paper"')
    assert silent.scale == replace(PAPER, name="mine", test_splits=("sealed_test",))
    assert silent.warnings == ()
    said = read(tmp_path, 'test_splits = ["principal_test", "sealed_test"]')
    assert said.scale.opens_principal_test
    assert said.warnings == (OPENS_PUBLISHED_TEST,)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("familys = []", "there is no key `familys`; there are name, scale, families"),
        ("families = 'gru_n16'", '`families` must be a list in brackets, not "gru_n16"'),
        ("families = []", "`families` must name at least one"),
        ("families = ['hopfield']", "`families`: there is no family `hopfield`"),
        ("families = ['gru']", "the family `gru` needs a size"),
        ("families = ['gru_n16', 'gru_n16']", '`families` names "gru_n16" twice'),
        ("families = ['gru', 'gru_n16']\nstate_sizes = [16]", "names the family `gru_n16` twice"),
        ("families = ['feed_forward']\nstate_sizes = [16]", "`state_sizes` changes nothing"),
        ("state_sizes = [0]", "`state_sizes` must be between 1 and 1024, not 0"),
        ("families = ['finite_stack']\nstate_sizes = [200]", "between 1 and 126"),
        ("families = ['structured_k8']\nstate_sizes = [4]", "8 nonlinear modes"),
        ("families = ['gru_e64']\nstate_sizes = [4]", "`gru_e64` is called `gru`"),
        ("families = ['gru_n4_e0']", "widths must be between 1 and 1024"),
        ("families = ['structured_k0_n64']", "is called `structured_k0`"),
        ("training_seeds = [1, 1]", "`training_seeds` names 1 twice"),
        ("training_seeds = [0]", "`training_seeds` must be between 1 and 2147483647, not 0"),
        ("training_seeds = [1, true]", "must be a whole number, not true"),
        ("training_seeds = 5", "must be a list in brackets, not 5"),
        ("training_seeds = { first = 5 }", "must be a list, or { first = 14303, count = 50 }"),
        ("training_seeds = [1, 2, 3]", "2000 shadow episodes cannot be shared equally by 3 collectors"),
        ("base_episodes = 5", "`base_episodes` must be between 10 and 10000000, not 5"),
        ("base_episodes = 999999999999", "`base_episodes` must be between 10 and 10000000, not 999999999999"),
        (f"families = {'[' * 100_000}", "is not TOML"),
        (f"epochs = {'9' * 5000}", "is not TOML"),
        ("base_episodes = 1.5", "`base_episodes` must be a whole number, not 1.5"),
        ("epochs = 'many'", '`epochs` must be a whole number, not "many"'),
        ("learning_rate = 0", "`learning_rate` must be between 1e-09 and 1, not 0"),
        ("learning_rate = nan", "`learning_rate` must be a number, not nan"),
        ("label_validation = 1", "`label_validation` must be true or false, not 1"),
        ("memory_shots = 226", "`memory_shots` must be between 1 and 225, not 226"),
        ("test_blackouts = [122]", "`test_blackouts` must be between 0 and 121, not 122"),
        ("validation_blackouts = [-1]", "`validation_blackouts` must be between 0 and 121, not -1"),
        ("test_blackouts = [5, 5]", "`test_blackouts` names 5 twice"),
        ("test_splits = ['test']", '`test_splits` must be one of principal_test, sealed_test, not "test"'),
        ("scale = 'huge'", '`scale` must be one of smoke, quick, paper, not "huge"'),
        ("scale = ['quick']", "`scale` must be one of smoke, quick, paper"),
        ("name = 'a/b'", 'a study\'s `name` is letters, digits, - and _, not "a/b"'),
        ("name = 'quick'", "the name `quick` is taken by the preset"),
        ("teachers = 'a.safetensors'", "`teachers` must be a table"),
        ("[teachers]", "name at least one teacher"),
        ("[teachers]\nmine = 'nobody.safetensors'", "nobody.safetensors for the teacher `mine`"),
        ("[teachers]\nmine = 5", "`mine` must be text in quotes, not 5"),
        ("[teachers]\n'../x' = 'shipped'", "a teacher's name is letters"),
        (
            "[disturbances]\nwind = 1",
            "there is no disturbance `wind`; there are conditions, noise_mm, blackouts, policies",
        ),
        ("[disturbances]\nnoise_mm = [-1]", "`noise_mm` must be between 0 and 100, not -1"),
        ("[disturbances]\nblackouts = [200]", "`blackouts` must be between 0 and 121, not 200"),
        ("[disturbances]\npolicies = ['gru_n8']", "names `gru_n8`, which is not among the study's families"),
        ("families = ['gru_n8']\n[disturbances]\nnoise_mm = [1]", "nobody is disturbed"),
        ("families = [", "is not TOML"),
    ],
)
def test_every_mistake_is_one_sentence(tmp_path, text, sentence):
    assert sentence in refused(tmp_path, text)


def test_what_cannot_be_read_is_named(tmp_path):
    with pytest.raises(BadFile, match=r"nothing\.toml cannot be read: No such file"):
        read_study_file(tmp_path / "nothing.toml")
    assert "a study's `name`" in refused(tmp_path, "", "two words.toml")


def test_a_teacher_must_be_one(tmp_path):
    Student.untrained("gru_n8", 1).save(tmp_path / "student.safetensors")
    said = refused(tmp_path, "[teachers]\nmine = 'student.safetensors'")
    assert "student.safetensors, which holds gru_n8/1" in said
    shutil.copy(model_file("teacher"), tmp_path / "copy.safetensors")
    file = read(tmp_path, "[teachers]\npaper = 'shipped'\nmine = 'copy.safetensors'")
    sites = file.sites(tmp_path / "study", quiet=True)
    assert {name: site.folder for name, site in sites.items()} == {
        "paper": tmp_path / "study" / "paper",
        "mine": tmp_path / "study" / "mine",
    }
    assert sites["paper"].teacher_source == model_file("teacher")
    assert sites["mine"].teacher_source == (tmp_path / "copy.safetensors").resolve()


def test_without_teachers_the_study_lies_in_its_own_folder(tmp_path):
    assert [site.folder for site in read(tmp_path, "").sites(tmp_path / "study").values()] == [tmp_path / "study"]


def test_options_that_the_file_decides_are_refused(tmp_path):
    (tmp_path / "mine.toml").write_text("[teachers]\npaper = 'shipped'")
    for words in (["--scale", "quick"], ["--families", "gru_n8"], ["--teacher", "x"]):
        with pytest.raises(BadInput, match=f"`{words[0]}` does not go with"):
            cli.execute(["study", str(tmp_path / "mine.toml"), *words, "--plan", "--json"])


def test_a_study_trains_a_teacher_or_names_some(tmp_path):
    (tmp_path / "mine.toml").write_text("[teachers]\npaper = 'shipped'")
    with pytest.raises(BadInput, match=r"mine\.toml: a study that names its teachers cannot train one"):
        cli.execute(["study", str(tmp_path / "mine.toml"), "--train-teacher", "--plan", "--json"])
    with pytest.raises(BadInput, match="cannot train one"):
        read(tmp_path, "train_teacher = true\n[teachers]\npaper = 'shipped'")
    with pytest.raises(BadInput, match="`--train-teacher` and `--teacher` do not go together"):
        cli.execute(["study", "--train-teacher", "--teacher", "x", "--plan"])
    assert read(tmp_path, "train_teacher = true").scale.train_teacher
    assert not read(tmp_path, "").scale.train_teacher


@pytest.fixture(scope="module")
def ran(tmp_path_factory) -> tuple[Path, dict]:
    """A study file of a few seconds, run up to its last episode; the shots' own proofs are tested elsewhere."""
    from blindsave.cli.study import Study

    folder = tmp_path_factory.mktemp("file")
    (folder / "minute.toml").write_text(RUNNABLE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("blindsave.task.audit.audit", lambda: {"passed": True, "families": 90})
        patch.setattr("blindsave.evidence.calibrate.calibrate", dict)
        return folder / "study", Study(
            folder / "minute.toml", folder=folder / "study", until="noise", engine="here"
        ).run()


def test_a_study_file_runs_and_plays_what_its_plan_says(ran, capsys):
    folder, result = ran
    cli.execute(["study", str(folder.parent / "minute.toml"), "--plan", "--json"])
    planned = json.loads(capsys.readouterr().out)
    episodes = {one["stage"]: one["episodes"] for one in planned["plan"]}
    grids = [json.loads(path.read_text()) for path in folder.glob("frozen/work/grid/*/manifest.json")]
    datasets = [json.loads(path.read_text()) for path in folder.glob("frozen/work/dataset/*/manifest.json")]
    assert sum(m["result"]["episodes"] for m in grids) == sum(
        episodes[name] for name in ("memory", "validation", "release", "noise")
    )
    assert sum(m["result"]["episodes"] for m in datasets) == episodes["base"] + episodes["shadow"]
    assert planned["total"]["episodes"] == sum(episodes.values())
    assert [one["what"] for one in result["teachers"]["frozen"]["stages"]] == ["ran"] * 12


def test_a_study_file_is_kept_with_what_it_found(ran, capsys):
    from blindsave.cli.study import Status, Study
    from blindsave.evidence import tables

    folder, result = ran
    assert (folder / "study.toml").read_text() == RUNNABLE
    assert json.loads((folder / "study.json").read_text())["scale"]["families"] == ["finite_stack_2"]
    rates = json.loads((folder / "summary.json").read_text())["save_rates"]["sealed_test"]["frozen"]
    assert set(rates) == {"finite_stack_2", "teacher"}
    assert rates["teacher"]["7"]["shots"] == 225
    noise = tables.read(folder / "frozen/results/noise/noise_test.parquet")
    assert noise["disturbance"].unique().to_pylist() == ["noise_2.5mm"]
    states = {one["stage"]: one["state"] for one in Status(folder).run()["stages"]}
    assert states["noise"] == "done"
    assert states["report"] == "missing"
    Study(folder.parent / "minute.toml").show(result)
    assert "finite_stack_2" in capsys.readouterr().out


def test_after_the_test_was_opened_the_study_cannot_change(ran):
    from blindsave.cli.study import Study

    folder, _ = ran
    (folder.parent / "changed.toml").write_text(RUNNABLE.replace("epochs = 1", "epochs = 2"))
    with pytest.raises(BadInput, match="is no longer the study whose test"):
        Study(folder.parent / "changed.toml", folder=folder, until="splits").run()
    assert (folder / "study.toml").read_text() == RUNNABLE


def test_every_key_is_documented():
    page = (Path(__file__).parents[2] / "docs/study-files.md").read_text()
    for key in KEYS:
        assert f"`{key}`" in page, key


def test_a_plan_is_a_study_file_too(tmp_path):
    root = Path(__file__).parents[2]
    assert read_study_file(root / "protocol.toml").scale == PAPER
    other = tmp_path / "mine.toml"
    other.write_text((root / "protocol.toml").read_text().replace("blackout = 20", "blackout = 15", 1))
    found = read_study_file(other).scale
    assert (found.name, found.endpoint, found.families) == ("mine", 15, PAPER.families)
    assert found.questions is not None and len(found.questions.hypotheses or ()) == 9


@pytest.mark.parametrize(
    ("cut", "says"),
    [
        ('reference = "teacher"', r"\[policies\]: `reference` is missing"),
        ("blackout = 20", r"\[endpoint\]: `blackout` is missing"),
        ("noise_seed = 29302026", r"\[statistics\]: `noise_seed` is missing"),
    ],
)
def test_a_plan_with_a_hole_is_one_sentence(tmp_path, cut, says):
    plan = tmp_path / "mine.toml"
    plan.write_text((Path(__file__).parents[2] / "protocol.toml").read_text().replace(cut, "", 1))
    with pytest.raises(BadFile, match=says):
        read_study_file(plan)


def test_conditions_of_tests_and_of_training_are_names(tmp_path):
    scale = read(
        tmp_path,
        """
        training_conditions = { clean = 1, outliers_3percent = 3 }
        endpoint_blackout = 10
        figures = ["behaviour"]
        [disturbances]
        conditions = ["clean", "noise_5", "latency_2+frozen"]
        """,
    ).scale
    assert scale.conditions == ("clean", "noise_5mm", "latency_2+frozen")
    assert scale.training_conditions == (("clean", 0.25), ("outliers_3percent", 0.75))
    assert (scale.endpoint, scale.figures) == (10, ("behaviour",))
    assert Scale.from_dict(json.loads(json.dumps(scale.to_dict()))) == scale


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("training_conditions = ['fog']", "`training_conditions` cannot be played: there is no condition `fog`"),
        ("training_conditions = { clean = 0 }", "`training_conditions` must be between"),
        ("[disturbances]\nconditions = ['noise']", "`conditions` cannot be played: `noise` is no condition"),
        ("[disturbances]\nconditions = ['clean']\nnoise_mm = [1]", "`noise_mm` is short for `conditions`"),
        ("endpoint_blackout = 7", "not among `test_blackouts`"),
        ("figures = ['nothing']", "`figures` must be one of"),
        ("plugins = ['nobody.py']", "which does not exist"),
        ("[teachers]\nmine = 'fixed_centre'", "cannot be fixed_centre"),
        ("[teachers]\nmine = 'nobody'", "there is no policy `nobody`"),
    ],
)
def test_every_mistake_about_conditions_and_teachers_is_one_sentence(tmp_path, text, sentence):
    assert sentence in refused(tmp_path, text)
