"""Files are there whole or not at all, whatever happens."""

from pathlib import Path

import pytest
from store_cases import Crash, crash_at

from blindsave import store
from blindsave.errors import BadFile


def test_a_file_is_replaced_whole_and_leaves_no_temporary(tmp_path):
    target = tmp_path / "deep" / "file.txt"
    store.write_whole(target, "old")
    store.write_whole(target, b"new")
    store.write_whole(tmp_path / "called.npz", lambda path: path.write_bytes(path.suffix.encode()))
    assert target.read_text() == "new"
    assert (tmp_path / "called.npz").read_text() == ".npz"
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["called.npz", "deep", "file.txt"]


def test_a_crash_at_any_step_of_a_write_leaves_the_old_or_the_new_file(tmp_path, monkeypatch):
    target = tmp_path / "file.txt"
    for nth in range(1, 20):
        target.write_text("old")
        with monkeypatch.context() as patch:
            steps = crash_at(patch, nth)
            try:
                store.write_whole(target, "new")
                break
            except Crash:
                assert target.read_text() == ("new" if "replace" in steps[:-1] else "old")
    assert nth == 4, "sync of the file, rename, sync of the folder: three places to crash"


def test_a_writer_that_fails_leaves_nothing_behind(tmp_path):
    def fail(path: Path) -> None:
        path.write_text("half")
        raise RuntimeError("disk")

    with pytest.raises(RuntimeError, match="disk"):
        store.write_whole(tmp_path / "file", fail)
    assert list(tmp_path.iterdir()) == []


def test_unreadable_files_are_named(tmp_path):
    with pytest.raises(BadFile, match="gone"):
        store.sha256_file(tmp_path / "gone")
    with pytest.raises(BadFile, match="gone"):
        store.read_json(tmp_path / "gone")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(BadFile, match="not JSON"):
        store.read_json(tmp_path / "bad.json")
