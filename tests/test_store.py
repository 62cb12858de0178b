import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindsave import store
from blindsave.errors import BadFile, BadInput

CONFIGURATION = {"split": "validation", "lengths": [0, 5]}
INPUTS = {"policy": "ab" * 32}


class Crash(BaseException):
    """Stands for the process dying: nothing in the code under test may catch it as an error."""


def build(folder: Path) -> dict[str, int]:
    (folder / "data.bin").write_bytes(b"rows" * 100)
    (folder / "sub").mkdir()
    (folder / "sub" / "more.txt").write_text("more")
    return {"rows": 100}


def make(root: Path) -> store.Artifact:
    return store.make(root, "grid", CONFIGURATION, INPUTS, build)


def crash_at(monkeypatch: pytest.MonkeyPatch, nth: int) -> list[str]:
    """Let the nth call of any durable step raise `Crash`; returns the log of steps reached."""
    steps: list[str] = []

    def guarded(name: str, real):
        def step(*args, **kwargs):
            steps.append(name)
            if len(steps) == nth:
                raise Crash(name)
            return real(*args, **kwargs)

        return step

    for name in ("fsync", "replace", "rename"):
        monkeypatch.setattr(store.os, name, guarded(name, getattr(os, name)))
    return steps


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), json_values, max_size=5))
def test_canonical_json_ignores_key_order_and_survives_reading_back(value):
    backwards = dict(reversed(value.items()))
    assert store.canonical_json(value) == store.canonical_json(backwards)
    assert store.digest(json.loads(store.canonical_json(value))) == store.digest(value)


def test_canonical_json_refuses_nan():
    with pytest.raises(ValueError, match="Out of range"):
        store.canonical_json({"rate": float("nan")})


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


def test_the_manifest_says_what_ran_but_not_where(tmp_path):
    text = (make(tmp_path).folder / store.MANIFEST).read_text()
    seen = json.loads(text)["provenance"]
    assert {"numpy", "mujoco"} <= seen["libraries"].keys()
    assert {"cpu", "cores", "os"} == seen["machine"].keys()
    assert os.uname().nodename not in text or len(os.uname().nodename) < 4


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


def test_only_old_leftovers_of_dead_processes_are_swept(tmp_path):
    name = store.address("grid", CONFIGURATION, INPUTS)
    (tmp_path / "grid").mkdir()
    dead, fresh, alive = (
        tmp_path / "grid" / f"{store.TEMPORARY}{pid}-{token}-{name}"
        for pid, token in ((2**22 + 7, "a"), (2**22 + 7, "b"), (os.getpid(), "c"))
    )
    for folder in (dead, fresh, alive):
        folder.mkdir()
    for folder in (dead, alive):
        os.utime(folder, (0, 0))
    make(tmp_path)
    assert (dead.exists(), fresh.exists(), alive.exists()) == (False, True, True)


def test_a_tree_hash_depends_on_names_and_contents(tmp_path):
    (tmp_path / "a").write_text("1")
    one = store.sha256_tree(tmp_path)
    os.rename(tmp_path / "a", tmp_path / "b")
    two = store.sha256_tree(tmp_path)
    (tmp_path / "b").write_text("2")
    assert len({one, two, store.sha256_tree(tmp_path)}) == 3


def test_unreadable_files_are_named(tmp_path):
    with pytest.raises(BadFile, match="gone"):
        store.sha256_file(tmp_path / "gone")
    with pytest.raises(BadFile, match="gone"):
        store.read_json(tmp_path / "gone")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(BadFile, match="not JSON"):
        store.read_json(tmp_path / "bad.json")


def test_one_process_at_a_time_holds_a_lock_and_a_dead_one_holds_nothing(tmp_path):
    lock, refusal = tmp_path / "stages" / "lock", "somebody is here"
    script = "import sys, time; from pathlib import Path; from blindsave import store"
    script += "\nwith store.held(Path(sys.argv[1]), ''): print('held', flush=True); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", script, str(lock)], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None and other.stdout.readline() == b"held\n"
        with pytest.raises(BadInput, match=rf"^{refusal} \(process {other.pid}\)$"), store.held(lock, refusal):
            pass
        other.kill()
        other.wait()
        with store.held(lock, refusal):
            assert lock.read_text() == str(os.getpid())
