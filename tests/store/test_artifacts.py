"""Artifacts are built once, verified ever after, and survive dying at any step."""

import os
from pathlib import Path

import pytest
from store_cases import CONFIGURATION, INPUTS, Crash, build, crash_at, make

from blindsave import store
from blindsave.errors import BadFile


def test_an_artifact_is_built_once_and_then_reused(tmp_path):
    first = make(tmp_path)
    again = store.make(tmp_path, "grid", CONFIGURATION, INPUTS, lambda folder: pytest.fail("built twice"))
    assert again == first
    assert first.path("sub/more.txt").read_text() == "more"
    assert first.manifest["result"] == {"rows": 100}
    assert first.folder.parent.name == "grid"


def test_another_configuration_or_input_is_another_artifact(tmp_path):
    first = make(tmp_path)
    other = store.make(tmp_path, "grid", CONFIGURATION | {"seed": 1}, INPUTS, build)
    third = store.make(tmp_path, "grid", CONFIGURATION, {"policy": "cd" * 32}, build)
    assert len({first.folder, other.folder, third.folder}) == 3


def test_a_crash_at_any_step_of_making_an_artifact_can_be_resumed(tmp_path, monkeypatch):
    wanted = make(tmp_path / "reference").manifest["files"]
    for nth in range(1, 60):
        root = tmp_path / str(nth)
        with monkeypatch.context() as patch:
            crash_at(patch, nth)
            try:
                make(root)
                break
            except Crash:
                pass
        assert make(root).manifest["files"] == wanted
        assert [p.name for p in (root / "grid").iterdir() if p.name.startswith(store.TEMPORARY)] == []
    assert 6 < nth < 59, "every durable step was tried, and the last try had nothing left to crash"


@pytest.mark.parametrize("name", ["data.bin", "sub/more.txt", store.MANIFEST])
def test_one_flipped_byte_is_refused_by_name(tmp_path, name):
    path = make(tmp_path).folder / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(BadFile, match=name):
        make(tmp_path)


def test_every_byte_of_a_manifest_is_protected(tmp_path):
    path = make(tmp_path).folder / store.MANIFEST
    whole = path.read_bytes()
    for position in range(0, len(whole), 7):
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 2]) + whole[position + 1 :])
        with pytest.raises(BadFile):
            store.open_artifact(path.parent)


def test_missing_foreign_and_moved_files_are_refused_by_name(tmp_path):
    artifact = make(tmp_path)
    (artifact.folder / "stray").touch()
    with pytest.raises(BadFile, match="stray does not belong"):
        store.open_artifact(artifact.folder)
    (artifact.folder / "stray").unlink()
    os.rename(artifact.folder, moved := artifact.folder.with_name("elsewhere"))
    with pytest.raises(BadFile, match="not where its manifest belongs"):
        store.open_artifact(moved)
    os.rename(moved, artifact.folder)
    artifact.path("data.bin").unlink()
    with pytest.raises(BadFile, match=r"data\.bin is missing"):
        store.open_artifact(artifact.folder)
    with pytest.raises(BadFile, match="holds no file"):
        artifact.path("nothing")


def test_losing_the_race_to_finish_an_artifact_yields_the_winner(tmp_path):
    def slow(folder: Path) -> dict[str, int]:
        make(tmp_path)
        return build(folder)

    artifact = store.make(tmp_path, "grid", CONFIGURATION, INPUTS, slow)
    assert artifact == make(tmp_path)
    assert len(list((tmp_path / "grid").iterdir())) == 1
