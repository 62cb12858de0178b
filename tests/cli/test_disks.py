"""Disks that are full or read-only, for real: a file system of a few kilobytes, and one that cannot be written.

Both are mounted in a name space of their own, which needs no rights where the kernel allows it, and vanish with it.
"""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

SUPPORT = Path(__file__).parents[1] / "support" / "small_disk.py"
Outcome = tuple[int | str | None, str, list[str]]


def _may_mount() -> bool:
    try:
        tried = subprocess.run(
            ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, timeout=20
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return tried.returncode == 0


pytestmark = pytest.mark.skipif(not _may_mount(), reason="no file system can be mounted here (unshare)")


def outcomes(folder: Path, options: str, lines: list[list[str]]) -> list[Outcome]:
    folder.mkdir()
    command = ["unshare", "-rm", sys.executable, str(SUPPORT), str(folder), options]
    done = subprocess.run(
        command, input=json.dumps(lines), capture_output=True, text=True, cwd=folder.parent, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def is_sentence(said: str) -> bool:
    lines = said.splitlines()
    return bool(lines) and lines[-1].startswith("blindsave: ") and "Traceback" not in said and len(lines[-1]) < 1000


def fuzz() -> ModuleType:
    """The module beside this one: it knows every command's options."""
    spec = importlib.util.spec_from_file_location("fuzz_of_commands", Path(__file__).with_name("test_fuzz.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_nothing_begins_where_nothing_can_be_written(tmp_path):
    known, folder, lines = fuzz(), tmp_path / "disk", []
    for name in known.cli.COMMANDS:
        for flag, positional, _, target in known.options_of(name):
            if target is not None and not positional:
                lines.append([*name.split(), *known.enough_of(name), f"{flag}={folder / 'x.png'}"])
    assert len(lines) > 20
    for line, (status, said, left) in zip(lines, outcomes(folder, "ro", lines), strict=True):
        assert status == 2 and said.count("\n") == 1 and "Read-only file system" in said and left == [], (line, said)


@pytest.mark.parametrize("room", ["size=4k", "size=8k,nr_inodes=3"], ids=["no bytes", "no files"])
def test_a_full_disk_is_one_sentence_and_leaves_nothing_half_written(room, tmp_path):
    pytest.importorskip("PIL")
    folder = tmp_path / "disk"
    top = ["--view", "top", "--width", "480", "--slower", "1", "--fps", "10"]
    lines = [
        [
            "evaluate",
            "inactive",
            "--split",
            "calibration",
            "--blackouts",
            "20",
            "--out",
            f"{folder}/deep/er/x.parquet",
        ],
        ["evaluate", "inactive", "--split", "calibration", "--blackouts", "20", "--work", f"{folder}/work"],
        *(["render", "--out", f"{folder}/deep/x{ending}", *top] for ending in (".png", ".gif", ".mp4")),
        ["export", "structured_k0/14303", "--format", "c", "--out", f"{folder}/firmware"],
        ["shots", "--split", "calibration", "--json"],
    ]
    *found, harmless = outcomes(folder, room, lines)
    for line, (status, said, left) in zip(lines[:-1], found, strict=True):
        assert status == 2 and is_sentence(said), (line, said)
        assert not any(name.endswith((".parquet", ".png", ".gif", ".mp4", ".h")) for name in left), (line, left)
        assert not any("tmp" in name.lower() or name.rpartition("/")[2].startswith(".") for name in left), (line, left)
    assert harmless[0] == 0
