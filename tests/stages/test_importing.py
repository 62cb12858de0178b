"""Trainings from elsewhere: what is taken and what is refused."""

from pathlib import Path

import pytest
import tiny_study

from blindsave import store
from blindsave.errors import BadFile, BadInput, Damaged
from blindsave.learning.distil.elsewhere import imported
from blindsave.learning.distil.packing import pack
from blindsave.stages.importing import import_trainings, of_teacher

SCHEDULE = {"episodes": 20}
WANTED = {"schedule": SCHEDULE, "labels": "own"}


def students(work: Path) -> Path:
    def build(folder: Path) -> None:
        (folder / "14303.safetensors").write_text("a student")

    return store.make(work, "students", {"family": "feed_forward"}, {}, build).folder


def dataset(work: Path, schedule: dict, inputs: dict) -> Path:
    def build(folder: Path) -> None:
        (folder / "shard-0000.safetensors").write_text("episodes")

    return store.make(work, "dataset", {"schedule": schedule, "labels": "own"}, inputs, build).folder


@pytest.fixture
def elsewhere(tmp_path) -> Path:
    """A work folder of another machine."""
    work = tmp_path / "elsewhere" / "work"
    students(work)
    dataset(work, SCHEDULE, {"teacher": "ab"})
    return work


@pytest.mark.parametrize("up", [0, 1])
def test_a_work_folder_or_the_study_around_it_is_taken_whole(tmp_path, elsewhere, up):
    site = tiny_study.site(tmp_path / "study")
    count = import_trainings(site, elsewhere.parent if up else elsewhere)
    found = {path.relative_to(elsewhere): path.read_bytes() for path in elsewhere.rglob("*") if path.is_file()}
    assert count == len(found) == 4
    assert {path.relative_to(site.work): path.read_bytes() for path in site.work.rglob("*") if path.is_file()} == found


def test_an_archive_brings_students_and_manifests_but_no_episodes(tmp_path, elsewhere):
    site = tiny_study.site(tmp_path / "study")
    assert import_trainings(site, pack(elsewhere, tmp_path / "students.tar")[0]) == 3
    assert not list(site.work.rglob("shard-*"))
    found = imported(site.work, WANTED, {"teacher": "ab"})
    assert found is not None and found.manifest["configuration"]["schedule"] == SCHEDULE


def test_what_is_already_here_stays(tmp_path, elsewhere):
    site = tiny_study.site(tmp_path / "study")
    folder = students(site.work)
    before = (folder / "manifest.json").read_bytes()
    import_trainings(site, elsewhere)
    assert (folder / "manifest.json").read_bytes() == before


def test_a_damaged_student_is_named(tmp_path, elsewhere):
    (harmed,) = elsewhere.rglob("14303.safetensors")
    harmed.write_text("another one")
    with pytest.raises(Damaged, match=r"14303\.safetensors is damaged"):
        import_trainings(tiny_study.site(tmp_path / "study"), elsewhere)


def test_nothing_to_import_is_said(tmp_path):
    for source in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(BadInput, match=f"{source} holds no students and no datasets"):
            import_trainings(tiny_study.site(tmp_path / "study"), source)
    (tmp_path / "torn.tar").write_bytes(b"not an archive")
    with pytest.raises(BadFile, match=r"torn\.tar is not a whole archive"):
        import_trainings(tiny_study.site(tmp_path / "study"), tmp_path / "torn.tar")


def test_each_teacher_gets_its_own_part_of_a_folder(tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "two.tar").touch()
    assert of_teacher(tmp_path, "one") == tmp_path / "one"
    assert of_teacher(tmp_path, "two") == tmp_path / "two.tar"
    assert of_teacher(tmp_path, "three") == of_teacher(tmp_path, "") == tmp_path
