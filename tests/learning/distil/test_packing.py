"""Archives of a work folder: what travels, what is refused, and what arrives."""

import tarfile

import numpy as np
import pytest

from blindsave import store
from blindsave.errors import BadFile, BadInput
from blindsave.learning.distil.packing import pack, packed_files, ship, unpack


@pytest.fixture
def work(tmp_path):
    """A work folder with one finished family."""

    def build(folder):
        (folder / "14303.safetensors").write_bytes(b"a student")
        (folder / "metrics.jsonl").write_text("{}\n")

    made = store.make(tmp_path / "work", "students", {"family": "gru_n64"}, {}, build)
    root = tmp_path / "work"
    (root / "dataset" / "base").mkdir(parents=True)
    (root / "dataset" / "base" / "manifest.json").write_text("{}")
    (root / "dataset" / "base" / "episodes.safetensors").write_bytes(b"too large to travel")
    store.write_json(
        root / "summary" / "gru_n64.json",
        {"family": "gru_n64", "finals_folder": made.folder.relative_to(root).as_posix()},
    )
    return root


def test_everything_but_the_episodes_travels_and_arrives(work, tmp_path):
    (archive,) = pack(work, tmp_path / "out.tar.xz")
    arrived = unpack(archive, tmp_path / "there")
    names = {path.relative_to(tmp_path / "there").as_posix() for path in arrived}
    assert {name.split("/")[0] for name in names} == {"students", "dataset", "summary"}
    assert not [name for name in names if "episodes" in name]
    for name in names:
        assert (tmp_path / "there" / name).read_bytes() == (work / name).read_bytes()


def test_an_archive_that_would_be_too_large_is_not_written(work, tmp_path):
    with pytest.raises(BadInput, match=r"the archive would have .* MiB, more than 0\.0001"):
        pack(work, tmp_path / "out.tar.xz", limit_mib=0.0001)
    assert not (tmp_path / "out.tar.xz").exists()


def test_an_empty_work_folder_is_said_to_be_one(tmp_path):
    with pytest.raises(BadInput, match="holds no students yet"):
        pack(tmp_path, tmp_path / "out.tar.xz")
    with pytest.raises(BadInput, match="has no finished family"):
        ship(tmp_path, tmp_path / "models")


@pytest.mark.parametrize("damage", ["cut", "text", "missing"])
def test_a_damaged_archive_is_named(work, tmp_path, damage):
    (archive,) = pack(work, tmp_path / "out.tar.xz")
    if damage == "cut":
        archive.write_bytes(archive.read_bytes()[: archive.stat().st_size // 2])
    elif damage == "text":
        archive.write_text("not an archive")
    else:
        archive.unlink()
    with pytest.raises(BadFile, match=r"out\.tar\.xz is not a whole archive"):
        unpack(archive, tmp_path / "there")


def test_a_student_changed_on_the_way_is_found(work, tmp_path):
    changed = next(work.glob("students/*/14303.safetensors"))
    changed.write_bytes(b"another student")
    (archive,) = pack(work, tmp_path / "out.tar.xz")
    with pytest.raises(BadFile, match=r"14303\.safetensors"):
        unpack(archive, tmp_path / "there")


def test_an_archive_cannot_write_outside_the_folder(tmp_path):
    (tmp_path / "evil.txt").write_text("evil")
    with tarfile.open(tmp_path / "evil.tar", "w") as archive:
        archive.add(tmp_path / "evil.txt", "../escaped.txt")
    with pytest.raises(BadFile, match=r"evil\.tar"):
        unpack(tmp_path / "evil.tar", tmp_path / "there")
    assert not (tmp_path / "escaped.txt").exists()


def test_finals_are_shipped_by_family_and_seed(work, tmp_path):
    shipped = ship(work, tmp_path / "models")
    assert shipped == [tmp_path / "models" / "students" / "gru_n64" / "14303.safetensors"]
    assert shipped[0].read_bytes() == b"a student"


def test_checkpoints_that_do_not_fit_stay_behind_and_students_travel(work, tmp_path, capsys):
    store.write_whole(work / "checkpoints" / "large.safetensors", np.random.default_rng(0).bytes(40_000))
    large = tmp_path / "there" / "checkpoints" / "large.safetensors"
    assert large in unpack(*pack(work, tmp_path / "all.tar"), tmp_path / "there")
    assert not capsys.readouterr().err
    names = unpack(*pack(work, tmp_path / "less.tar", limit_mib=0.03), tmp_path / "there")
    assert large not in names and tmp_path / "there" / "summary" / "gru_n64.json" in names
    assert "without the checkpoints" in capsys.readouterr().err


def test_what_is_half_written_does_not_travel(work, tmp_path):
    before = packed_files(work)
    store.write_whole(work / "checkpoints" / ".tmp-1-aa-x.safetensors", b"half")
    store.write_whole(work / "students" / ".tmp-1-bb-y" / "14303.safetensors", b"half")
    assert packed_files(work) == before


def test_a_checkpoint_that_vanishes_meanwhile_is_not_missed(work, tmp_path, monkeypatch):
    gone = [*packed_files(work), work / "checkpoints" / "ended.safetensors"]
    monkeypatch.setattr("blindsave.learning.distil.packing.packed_files", lambda folder: gone)
    (archive,) = pack(work, tmp_path / "out.tar")
    assert len(unpack(archive, tmp_path / "there")) == len(gone) - 1
