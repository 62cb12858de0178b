"""The faults a study survived."""

import json
import os

import pytest

from blindsave.stages import faults


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "stages").mkdir()
    return tmp_path


def test_faults_are_read_back_oldest_first(folder):
    faults.keep(folder, "base", "base 3", "worker 1 was killed")
    faults.keep(folder, "finals", "gru_n64", "the disk said „nein“")
    found = faults.read_faults(folder)
    assert [(one["stage"], one["task"], one["what"]) for one in found] == [
        ("base", "base 3", "worker 1 was killed"),
        ("finals", "gru_n64", "the disk said „nein“"),
    ]
    assert all(one["time"].endswith("+00:00") for one in found)


def test_a_line_torn_by_a_crash_does_not_hide_the_others(folder):
    faults.keep(folder, "base", "a", "first")
    with faults.path(folder).open("a") as file:
        file.write('{"stage": "ba\n')
    faults.keep(folder, "base", "b", "last")
    assert [one["what"] for one in faults.read_faults(folder)] == ["first", "last"]


def test_a_study_without_faults_has_none(folder):
    assert faults.read_faults(folder) == []


def test_every_fault_is_one_line_of_json(folder):
    faults.keep(folder, "base", "a", "two\nlines")
    (line,) = faults.path(folder).read_text("ascii").splitlines()
    assert json.loads(line)["what"] == "two\nlines"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_disk_does_not_stop_the_run_that_survived_a_fault(folder):
    faults.path(folder).symlink_to("/dev/full")
    faults.keep(folder, "base", "a", "nobody will read this")
