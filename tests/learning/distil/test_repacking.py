"""Archives of work that goes on: there before the end, whole, and no reason to stop."""

import time

import pytest

from blindsave import store
from blindsave.learning.distil import repacking
from blindsave.learning.distil.packing import unpack
from blindsave.learning.distil.repacking import packed_meanwhile

PATIENCE_S = 60


def save(work, text):
    store.write_whole(work / "checkpoints" / "a.safetensors", text)


def content(archive, folder):
    unpack(archive, folder)
    return (folder / "checkpoints" / "a.safetensors").read_text()


def wait_for(condition):
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def test_archives_are_written_again_while_the_work_goes_on(tmp_path):
    work, out = tmp_path / "work", tmp_path / "out" / "a.tar"
    with packed_meanwhile({work: out}, every_s=0.01) as wrong:
        for text in ("first", "second", "third"):
            save(work, text)
            wait_for(lambda text=text: out.exists() and content(out, tmp_path / "there") == text)
        save(work, "last")
    assert content(out, tmp_path / "there") == "last" and not wrong
    assert [path.name for path in out.parent.iterdir()] == ["a.tar"]


def test_what_has_not_changed_is_not_packed_again(tmp_path, monkeypatch):
    packed, pack = [], repacking.pack
    monkeypatch.setattr(repacking, "pack", lambda work, out: packed.append(work) or pack(work, out))
    save(tmp_path / "work", "same")
    with packed_meanwhile({tmp_path / "work": tmp_path / "a.tar"}, every_s=0.01):
        wait_for(lambda: packed)
        time.sleep(0.1)
    assert len(packed) == 1


def test_an_error_is_passed_on_after_the_archives_are_written(tmp_path):
    save(tmp_path / "work", "kept")
    with pytest.raises(ZeroDivisionError), packed_meanwhile({tmp_path / "work": tmp_path / "a.tar"}):
        raise ZeroDivisionError
    assert content(tmp_path / "a.tar", tmp_path / "there") == "kept"


def test_a_folder_without_anything_to_pack_stops_neither_the_work_nor_the_others(tmp_path, capsys):
    save(tmp_path / "work", "kept")
    archives = {tmp_path / "empty": tmp_path / "e.tar", tmp_path / "work": tmp_path / "a.tar"}
    with packed_meanwhile(archives, every_s=0.01) as wrong:
        wait_for((tmp_path / "a.tar").exists)
        assert not wrong
    assert [str(error) for error in wrong] == [f"{tmp_path / 'empty'} holds no students yet"]
    assert capsys.readouterr().err.count("holds no students yet") == 1
