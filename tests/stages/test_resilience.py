"""The tools that look for a difference between two runs of a study find one, and only where there is one."""

import sys
from pathlib import Path

import pytest

from blindsave.errors import BlindsaveError
from blindsave.stages import resilience

FAKE = Path(__file__).parents[1] / "support" / "fake_study.py"
ENGINES = [["--engine", "here"], ["--engine", "workers", "--workers", "2"]]


@pytest.fixture(autouse=True)
def fake_study(monkeypatch):
    monkeypatch.setattr(resilience, "STUDY", [sys.executable, str(FAKE)])


def nothing(line: str) -> None:
    del line


@pytest.mark.parametrize("honesty", ["honest", "sloppy"])
def test_a_killed_study_is_continued_and_compared(tmp_path, honesty):
    found = resilience.kill_and_compare(tmp_path, [honesty], kills=3, seed=1, tell=nothing)
    assert (found["kills"], found["asked_for"], found["files_compared"]) == (3, 3, 11)
    assert [moment["stages_done"] for moment in found["moments"]] == sorted(m["stages_done"] for m in found["moments"])
    assert found["equal"] == (honesty == "honest")
    assert len(found["different"]) == (0 if honesty == "honest" else 10)


@pytest.mark.parametrize("honesty", ["honest", "sloppy"])
def test_a_study_on_every_engine_is_compared_with_the_first(tmp_path, honesty):
    found = resilience.engines_and_compare(tmp_path, [honesty], ENGINES, nothing)
    first, second = found["runs"]
    assert first["equal"]
    assert second["equal"] == found["equal"] == (honesty == "honest")
    assert second["files_compared"] == 11
    assert len(second["different"]) == (0 if honesty == "honest" else 10)


def test_a_study_that_fails_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(resilience, "STUDY", [sys.executable, "-c", "raise SystemExit(3)"])
    with pytest.raises(BlindsaveError, match="ended with status 3; run it by hand"):
        resilience.engines_and_compare(tmp_path, [], ENGINES, nothing)
