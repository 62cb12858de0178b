"""The tool that ships further studies: one joins what is known of its teacher's training, and replaces nothing else."""

import shutil
from pathlib import Path

import pytest
from page_tools import page_tool
from sealed_study import Study

from blindsave.errors import BadInput
from blindsave.store import read_json, sha256_tree
from blindsave.verify import verify

TOOL = page_tool("shipping")


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A released study, and a repository that holds its teacher and what is known of its training."""
    folder = tmp_path_factory.mktemp("made")
    study = Study(folder / "run" / "seed_2").prepare()
    study.freeze()
    study.release()
    teacher = folder / "repository/models/teachers/seed_2/teacher"
    shutil.copytree(study.root / "models/teacher", teacher)
    known = folder / "repository/results/teachers/seed_2/teacher"
    known.mkdir(parents=True)
    (known / "config.json").write_text("{}")
    return folder


@pytest.fixture
def place(made, tmp_path, monkeypatch) -> Path:
    """A copy, where the tool is at work."""
    copy = Path(shutil.copytree(made, tmp_path / "made"))
    monkeypatch.setattr(TOOL, "ROOT", copy / "repository")
    return copy


@pytest.mark.parametrize("group", ["teachers", "further"])
def test_a_study_verifies_where_it_comes_to_lie_also_when_it_is_shipped_again(place, group):
    for _ in range(2):
        results = TOOL.ship(place / "run/seed_2", group)
        assert verify(results).ok
    assert results == place / "repository/results" / group / "seed_2"
    assert (place / "repository/results/teachers/seed_2/teacher/config.json").read_text() == "{}"
    assert (place / "repository/models/teachers/seed_2/teacher/teacher.safetensors").is_file()


def test_students_of_other_training_seeds_are_named_and_left_out(place):
    results = TOOL.ship(place / "run/seed_2", "teachers", seed=14303)
    assert verify(results).ok
    students = place / "repository/models/teachers/seed_2/students"
    assert {path.stem for path in students.rglob("*.safetensors")} == {"14303"}
    files = read_json(results / "left_out.json")["files"]
    assert files == [f"models/students/{name}/14304.safetensors" for name in ("gru_n64", "structured_k0")]


def test_the_study_of_another_teacher_changes_nothing(place):
    root = place / "repository"
    (root / "models/teachers/seed_2/teacher/teacher.safetensors").write_text("somebody else")
    before = sha256_tree(root)
    with pytest.raises(BadInput, match="another teacher"):
        TOOL.ship(place / "run/seed_2", "teachers")
    assert sha256_tree(root) == before
