"""The tool that makes another study the main one: both verify where they come to lie, or nothing is touched."""

import importlib.util
import json
import shutil
from pathlib import Path
from types import ModuleType

import pytest
from sealed_study import Study

from blindsave.errors import BadFile, BadInput
from blindsave.store import read_json, sha256_file, sha256_tree
from blindsave.verify import verify

TOOL = Path(__file__).parents[1] / "docs" / "_tools" / "main_study.py"


def released(root: Path, teacher: str) -> Path:
    """A small study of this teacher, frozen and released."""
    study = Study(root).prepare()
    (root / "models/teacher/teacher.safetensors").write_text(teacher)
    study.freeze()
    study.release()
    shutil.rmtree(study.work)
    return root


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A repository with a main study, and another study; tests work on copies."""
    folder = tmp_path_factory.mktemp("made")
    repository = released(folder / "repository", "the old one")
    for name in ("report/report.html", "probe/probe.json", "memory/swap.json", "memory/swap.png", "bench/sim.json"):
        (repository / "results" / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / "results" / name).write_text("{}")
    (repository / "results/teacher").mkdir()
    (repository / "results/teacher/config.json").write_text("{}")
    (repository / "results/teachers").mkdir()
    prints = {"command": "blindsave teacher fingerprint teacher models/x", "teachers": {"teacher": {"seed": 1}}}
    (repository / "results/teachers/fingerprints.json").write_text(json.dumps(prints))
    for name in ("teacher", "gru_n64/14303", "ppo/14303"):
        (repository / "models/probes" / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / "models/probes" / f"{name}.safetensors").write_text(name)
    released(folder / "study", "the new one")
    known = repository / "models/teachers/seed_2/teacher/teacher.safetensors"
    known.parent.mkdir(parents=True)
    shutil.copy(folder / "study/models/teacher/teacher.safetensors", known)
    training = repository / "results/teachers/seed_2/teacher"
    training.mkdir(parents=True)
    for name in ("config.json", "metrics.jsonl", "validation.json"):
        (training / name).write_text(name)
    return folder


@pytest.fixture
def place(made, tmp_path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "made"))


@pytest.fixture
def tool(place, monkeypatch) -> ModuleType:
    """The tool, at work in the copy."""
    spec = importlib.util.spec_from_file_location("main_study", TOOL)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    root = place / "repository"
    for name, folder in (("ROOT", root), ("RESULTS", root / "results"), ("MODELS", root / "models")):
        monkeypatch.setattr(module, name, folder)
    return module


def test_both_studies_verify_where_they_come_to_lie(tool, place):
    root, before = place / "repository", sha256_file(place / "repository/results/freeze.json")
    tool.install(place / "study", "old", None)
    for folder in (root, root / "results/teachers/old"):
        found = verify(folder)
        assert found.ok and found.released, found.failures
    assert sha256_file(root / "results/teachers/old/freeze.json") == before
    assert (root / "models/teacher/teacher.safetensors").read_text() == "the new one"
    assert (root / "models/teachers/old/teacher/teacher.safetensors").read_text() == "the old one"
    assert (root / "results/teacher/validation.json").read_text() == "validation.json"


def test_a_study_that_lies_among_further_ones_can_become_the_main_one(tool, place):
    """There its plan is among its results, and its teacher among the teachers."""
    root, study = place / "repository", place / "study"
    results, models = (root / part / "main" / "seed_2" for part in ("results", "models"))
    shutil.copytree(study / "results", results)
    shutil.copytree(study / "models" / "students", models / "students")
    shutil.copy(study / "protocol.toml", results)
    assert verify(results).ok
    tool.install(results, "old", None)
    assert verify(root).ok and (root / "models/teacher/teacher.safetensors").read_text() == "the new one"
    assert sha256_file(root / "results/freeze.json") == sha256_file(study / "results/freeze.json")


def test_what_can_be_made_again_stays_behind_and_what_is_nobodys_stays(tool, place):
    tool.install(place / "study", "old", None)
    left = {path.relative_to(place / "repository").as_posix() for path in (place / "repository").rglob("*.*")}
    assert {"results/bench/sim.json", "models/probes/ppo/14303.safetensors"} <= left
    assert {f"results/teachers/old/{name}.json" for name in ("swap", "probe")} <= left
    assert not [name for name in left if name.endswith((".png", ".html")) or "probes/gru" in name]


def test_the_teacher_that_moved_has_a_name_in_the_fingerprints(tool, place):
    tool.install(place / "study", "old", None)
    kept = read_json(place / "repository/results/teachers/fingerprints.json")
    assert kept == {
        "command": "blindsave teacher fingerprint models/teachers/old models/x",
        "teachers": {"old": {"seed": 1}},
    }


def test_a_study_that_does_not_verify_a_place_that_is_taken_or_an_unknown_teacher_changes_nothing(tool, place):
    root = place / "repository"
    taken = root / "results/teachers/old"
    taken.mkdir()
    with pytest.raises(BadInput, match="choose another name"):
        tool.install(place / "study", "old", None)
    taken.rmdir()
    before = sha256_tree(root)
    table = place / "study/results/test/principal_test.parquet"
    whole = table.read_bytes()
    table.write_bytes(whole[:-1])
    with pytest.raises(BadFile, match=r"does not verify: .*principal_test\.parquet"):
        tool.install(place / "study", "old", None)
    table.write_bytes(whole)
    (root / "models/teachers/seed_2/teacher/teacher.safetensors").write_text("somebody else")
    with pytest.raises(BadInput, match="nothing is known of this study's teacher"):
        tool.install(place / "study", "old", None)
    (root / "models/teachers/seed_2/teacher/teacher.safetensors").write_text("the new one")
    assert sha256_tree(root) == before


def test_every_step_says_what_it_makes(tool, capsys):
    tool.main(["derive", "--list"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(tool.STEPS) and all(line.partition(": ")[2] for line in lines)
