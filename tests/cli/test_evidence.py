"""The evidence commands as a user calls them: JSON on standard output, one sentence on bad input."""

import json
import sys
from pathlib import Path

import pytest

from blindsave import cli
from blindsave.evidence import tables
from blindsave.evidence.saves import saves
from blindsave.policies.students.registry import family
from blindsave.policies.students.student import Provenance, Student

REPOSITORY = Path(__file__).parents[2]


def run(capsys, *words: str):
    cli.execute([*words, "--json"])
    return json.loads(capsys.readouterr().out)


def complaint(capsys, monkeypatch, *words: str) -> str:
    monkeypatch.setattr(sys, "argv", ["blindsave", *words])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    assert stopped.value.code == 2
    sentence = capsys.readouterr().err
    assert sentence.startswith("blindsave: ")
    assert sentence.count("\n") == 1
    return sentence


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory) -> tuple[Path, str]:
    """One scripted policy over the calibration shots, and what the command printed."""
    import contextlib
    import io

    folder = tmp_path_factory.mktemp("evaluate")
    printed = io.StringIO()
    words = ["evaluate", "inactive", "--split", "calibration", "--blackouts", "20", "--work", str(folder), "--json"]
    with contextlib.redirect_stdout(printed):
        cli.execute(words)
    return folder, printed.getvalue()


def test_evaluate_prints_saves_and_the_path_of_a_whole_table(evaluated):
    result = json.loads(evaluated[1])
    assert result["policies"]["inactive"]["20"]["shots"] == 216
    table = tables.read(result["table"])
    assert table.num_rows == 216
    saves = sum(table["save"].to_pylist())
    assert result["policies"] == {"inactive": {"20": {"saves": saves, "shots": 216}}}


def test_two_files_that_hold_the_same_name_are_compared_under_names_of_their_own(tmp_path, capsys):
    paths = [str(tmp_path / run / "student.safetensors") for run in ("a", "b")]
    for seed, path in enumerate(paths):
        parameters = Student.untrained("feed_forward", seed).parameters
        Student(family("feed_forward"), parameters, Provenance(7)).save(Path(path))
    where = ("--split", "calibration", "--blackouts", "20", "--work", str(tmp_path / "work"))
    result = run(capsys, "evaluate", *paths, *where)
    assert result["renamed"] == dict(zip(paths, ["feed_forward@a/7", "feed_forward@b/7"], strict=True))
    assert list(result["policies"]) == paths
    assert tables.read(result["table"])["policy"].unique().to_pylist() == ["feed_forward@a", "feed_forward@b"]
    cli.execute(["evaluate", *paths, *where])
    assert "its rows are those of feed_forward@b/7" in capsys.readouterr().out.replace("\n", "")


def test_power_reads_the_published_table(capsys):
    path = str(REPOSITORY / "results/test/principal_test.parquet")
    answer = run(capsys, "power", path, "--points", "5")
    assert answer["shots_needed"] > 0 and 0 < answer["resolvable_now"] < 1


def test_a_split_that_is_not_in_the_table_is_named_with_those_that_are(evaluated, capsys, monkeypatch):
    path, plan = json.loads(evaluated[1])["table"], str(REPOSITORY / "protocol.toml")
    said = complaint(capsys, monkeypatch, "stats", path, "--plan", plan, "--split", "nope")
    assert "'nope'" in said and "calibration" in said


def test_stats_read_the_table(evaluated, capsys):
    path = json.loads(evaluated[1])["table"]
    plan = str(REPOSITORY / "protocol.toml")
    result = run(capsys, "stats", path, "--plan", plan, "--replicates", "200")
    assert result["rates"]["inactive"]["20"]["seedless"] is True
    assert result["outcomes"]["inactive"]["20"]["goal_conceded"] == 208
    assert result["primary"] == []
    cli.execute(["stats", path, "--plan", plan, "--replicates", "50"])
    assert "inactive" in capsys.readouterr().out


def test_bench_coverage_reports_every_population(capsys):
    result = run(capsys, "bench", "coverage", "--studies", "20", "--replicates", "50")
    assert len(result["populations"]) == 18
    assert all(0 <= p[way]["rate"] <= 1 for p in result["populations"] for way in ("bootstrap", "mrmc"))
    assert result["machine"]["cores"] >= 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["evaluate", "nobody"], "nobody"),
        (["evaluate", "inactive", "--split", "nowhere"], "nowhere"),
        (["evaluate", "inactive", "--blackouts", "0,x"], "--blackouts"),
        (["evaluate", "inactive", "--blackouts", "2.5"], "whole numbers"),
        (["evaluate", "inactive", "--blackouts", "200"], "200"),
        (["evaluate", "inactive", "--noise-mm", "-1"], "-1"),
        (["evaluate", "inactive", "inactive"], "twice"),
        (["evaluate"], "at least one policy"),
        (["stats", "none.parquet"], "none.parquet"),
        (["power", "none.parquet", "--points", "0"], "--points"),
        (["power", "none.parquet", "--points", "nan"], "--points must be a finite number, got 'nan'"),
        (["power", "none.parquet", "--a", "gru_n64", "--b", "gru_n64"], "both gru_n64"),
        (["evaluate", "inactive", "--noise-mm", "nan"], "finite"),
        (["stats", "none.parquet", "--replicates", "10000000000"], "--replicates must be at most"),
        (["freeze", "--plan", "none.toml"], "none.toml"),
        (["release", "--manifest", "none.json"], "none.json"),
        (["bench", "coverage", "--studies", "0"], "--studies must be at least 1"),
    ],
)
def test_bad_input_is_one_sentence_that_names_the_offender(capsys, monkeypatch, tmp_path, words, sentence):
    monkeypatch.chdir(tmp_path)
    assert sentence in complaint(capsys, monkeypatch, *words)


def test_freezing_without_models_names_the_first_missing_checkpoint(capsys, monkeypatch, tmp_path):
    (tmp_path / "protocol.toml").write_bytes((REPOSITORY / "protocol.toml").read_bytes())
    monkeypatch.chdir(tmp_path)
    assert "feed_forward/14303.safetensors" in complaint(capsys, monkeypatch, "freeze")


def test_stats_are_readable_at_80_columns(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    table, plan = str(REPOSITORY / "results/test/principal_test.parquet"), str(REPOSITORY / "protocol.toml")
    cli.execute(["stats", table, "--plan", plan, "--replicates", "50"])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    rate = saves(tables.read(table)).at("structured_k0", 20).mean()
    assert sum("structured_k0" in line and f"{100 * rate:.2f} [" in line for line in lines) == 1


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_rewards_that_are_no_numbers_are_refused_by_their_row(evaluated, tmp_path, capsys, monkeypatch, value):
    table = tables.read(json.loads(evaluated[1])["table"])
    rewards = table["reward"].to_pylist()
    rewards[3] = value
    place = table.schema.get_field_index("reward")
    path = tables.write(table.set_column(place, table.schema.field(place), [rewards]), tmp_path / "x.parquet")
    said = complaint(capsys, monkeypatch, "stats", str(path), "--plan", str(REPOSITORY / "protocol.toml"))
    assert "a reward that is no finite number" in said and table["shot_id"][3].as_py() in said
