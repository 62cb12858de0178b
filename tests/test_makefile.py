"""`make study` installs what a study needs, once."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")


@pytest.fixture
def planned(tmp_path):
    """What a target would run in a copy without any C file."""
    for name in ("Makefile", "pyproject.toml", "setup.py"):
        shutil.copy(REPOSITORY / name, tmp_path / name)
    (tmp_path / "src" / "blindsave").mkdir(parents=True)
    (tmp_path / ".venv").mkdir()

    def run(*words: str) -> str:
        command = ["make", "-n", "--no-print-directory", *words]
        # Without what an outer make, or whoever called it, has said about its own run.
        own = {key: value for key, value in os.environ.items() if key not in ("EXTRAS", "MAKEFLAGS", "MAKELEVEL")}
        done = subprocess.run(command, cwd=tmp_path, env=own, check=True, capture_output=True, text=True)
        return done.stdout

    return run


def test_a_study_installs_no_extras_and_says_what_it_does(planned):
    said = planned("study")
    assert "--editable .\n" in said and ".[" not in said
    assert 'echo "installing' in said


def test_a_second_study_starts_at_once(planned, tmp_path):
    (tmp_path / ".venv" / ".light").touch()
    assert planned("study").splitlines() == [".venv/bin/blindsave study --scale quick"]


def test_setup_takes_extras(planned):
    assert "--editable '.[dev]'" in planned("setup")
    assert "--editable '.[dev,ppo]'" in planned("setup", "EXTRAS=dev,ppo")
