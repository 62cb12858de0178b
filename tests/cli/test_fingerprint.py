"""`blindsave teacher fingerprint`: tables side by side, one JSON file, and bad teachers refused before any work."""

import json
from pathlib import Path

import pytest
from tiny_teachers import frozen_teacher, frozen_with_agent

from blindsave import cli
from blindsave.cli.fingerprint import Fingerprint
from blindsave.diagnostics import fingerprint as fingerprints
from blindsave.diagnostics import teacher_files
from blindsave.errors import BlindsaveError
from blindsave.store import read_json

ROOT = Path(__file__).parents[2]
TRIAL = ["--shots", "2", "--episodes", "390", "--threads", "1"]


def rows(text: str) -> list[list[str]]:
    """The lines of printed tables, cell by cell."""
    return [[cell.strip() for cell in line.split("│")[1:-1]] for line in text.splitlines() if "│" in line]


@pytest.fixture(autouse=True)
def few_timed_episodes(monkeypatch):
    monkeypatch.setattr(fingerprints, "TIMED_EPISODES", 5)


@pytest.fixture
def teachers(tmp_path) -> list[str]:
    return [str(frozen_teacher(tmp_path / f"seed_{seed}/teacher.safetensors", seed)) for seed in (1, 2)]


def test_teachers_stand_side_by_side_with_the_paper_within_80_columns(teachers, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    out = tmp_path / "prints.json"
    cli.execute(["teacher", "fingerprint", *teachers, *TRIAL, "--out", str(out)])
    said = capsys.readouterr().out
    assert max(len(line) for line in said.splitlines() if str(out) not in line) <= 80
    for name in ("seed_1", "seed_2"):
        assert sum(name in line for line in said.splitlines()) == 6  # one line in every table
    (paper,) = [line for line in said.splitlines() if "paper" in line and "41.8" in line]
    assert "48.9" in paper and "47.1" in paper and "45.8" in paper
    assert str(out) in said
    kept = json.loads(out.read_text())
    assert list(kept["teachers"]) == ["seed_1", "seed_2"]
    assert kept["command"].startswith("blindsave teacher fingerprint ") and "--shots 2" in kept["command"]


def test_json_is_what_the_file_holds_and_the_same_every_time(teachers, tmp_path, capsys):
    out = tmp_path / "prints.json"
    for words in (["--out", str(out)], []):
        cli.execute(["teacher", "fingerprint", teachers[0], *TRIAL, *words, "--json"])
    first, second = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert first == second
    assert json.loads(out.read_text())["teachers"] == first["teachers"]


def test_a_bad_teacher_is_one_sentence_before_anything_is_played(teachers, tmp_path, monkeypatch):
    monkeypatch.setattr(fingerprints, "fingerprint", lambda *_, **__: pytest.fail("something was played"))
    out = tmp_path / "prints.json"
    for words in (
        [*teachers, "nobody"],
        [*teachers, str(tmp_path / "gone.safetensors")],
        [*teachers, teachers[0]],
        [*teachers, str(tmp_path)],
        [],
        [*teachers, "--episodes", "3"],
        [*teachers, "--shots", "0"],
    ):
        with pytest.raises(BlindsaveError) as caught:
            cli.execute(["teacher", "fingerprint", *words, "--out", str(out)])
        assert "\n" not in str(caught.value)
    with pytest.raises(BlindsaveError, match="a file is wanted"):
        cli.execute(["teacher", "fingerprint", *teachers, "--out", str(tmp_path)])
    assert not out.exists()


def test_without_jax_a_teacher_is_not_sampled_and_that_is_said(tmp_path, capsys, monkeypatch):
    pytest.importorskip("jax")
    file = frozen_with_agent(tmp_path)
    monkeypatch.setattr(teacher_files, "find_spec", lambda name: None)
    cli.execute(["teacher", "fingerprint", str(file), *TRIAL, "--json"])
    said = capsys.readouterr()
    assert "with_agent: its actions are not sampled, because JAX is not installed" in said.err
    assert list(json.loads(said.out)["teachers"]["with_agent"]["saves"]) == ["deterministic"]


def test_a_stored_file_is_shown_as_it_was_and_endings_that_nobody_had_are_left_out(capsys):
    kept = read_json(ROOT / "results/teachers/fingerprints.json")  # its keys are sorted as texts
    kept["teachers"] = dict(list(kept["teachers"].items())[:1])
    ((name, one),) = kept["teachers"].items()
    one["outcomes"] = {"deterministic": {"returned": 1120, "timeout_after_contact": 5}}
    Fingerprint(()).show(kept)
    said = capsys.readouterr().out
    lines = said.splitlines()
    drops = [f"{one['state_reset'][length]['drop']:.1f}" for length in ("5", "10", "15", "20")]
    assert [name, *drops] in rows(said) and [name, "1120", "5"] in rows(said)
    (endings,) = [line for line in lines if "returned" in line]
    assert "timed out" in endings and "deflected" not in endings and "conceded" not in endings


def test_the_documented_tables_are_those_of_the_stored_figures(capsys):
    Fingerprint(()).show(read_json(ROOT / "results/teachers/fingerprints.json"))
    shown = rows(capsys.readouterr().out)
    documented = rows((ROOT / "docs/teacher.md").read_text(encoding="utf-8"))
    assert len(documented) > 20 and [row for row in documented if row not in shown] == []
