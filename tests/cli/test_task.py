"""The commands about the task: shots, calibration, audit."""

import json
import subprocess
import sys

import pytest

from blindsave.cli import execute
from blindsave.errors import BadInput
from blindsave.task import shots
from blindsave.task.audit import audit


@pytest.fixture
def result():
    """What a calibration finds, without playing it."""
    conceded = {"conceded": 208, "saved": 8, "faults": 0, "outcomes": {"goal_conceded": 208, "arrested": 8}}
    saved = {"conceded": 3, "saved": 213, "faults": 0, "outcomes": {"returned": 213, "goal_conceded": 3}}
    rules = {"inactive": conceded, "fixed_centre": conceded, "privileged": saved}
    about = {"split": "calibration", "shots": 216, "locked_steps": 5, "reached_approach_plane": 216}
    return rules | about | {"approach_time_s": [0.40, 0.94]}


@pytest.fixture(scope="module")
def figures():
    return audit()


def test_command_prints_what_the_function_returns(monkeypatch, capsys, result):
    monkeypatch.setattr("blindsave.evidence.calibrate.calibrate", lambda split, locked_steps: result)
    execute(["calibrate", "--json"])
    assert json.loads(capsys.readouterr().out) == result
    execute(["calibrate"])
    assert "208 goal_conceded" in capsys.readouterr().out


def test_unknown_split_is_one_sentence_and_no_output():
    run = [sys.executable, "-m", "blindsave", "calibrate", "--split", "calibraton", "--json"]
    failed = subprocess.run(run, capture_output=True, text=True, check=False)
    assert failed.returncode != 0
    assert failed.stdout == ""
    assert failed.stderr.count("\n") == 1
    assert "did you mean 'calibration'" in failed.stderr


def test_command_prints_the_figures(figures):
    run = [sys.executable, "-m", "blindsave", "audit", "--json"]
    assert json.loads(subprocess.run(run, capture_output=True, text=True, check=True).stdout) == figures


def test_shots_are_listed_in_schedule_order(capsys):
    execute(["shots", "--split", "validation", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert [shot["id"] for shot in found["shots"]] == [shot.id for shot in shots.shots("validation")]
    assert found["seed"] == shots.SPLITS["validation"].seed
    execute(["shots", "--split", "validation"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"validation: 225 shots, seed {found['seed']}; metres, seconds"
    assert len(lines) == 2 + 225
    first = found["shots"][0]
    assert lines[2].split()[0] == first["id"].partition(":")[2]
    assert [float(word) for word in lines[2].split()[1:3]] == [round(first["x"], 3), round(first["y"], 3)]


@pytest.mark.parametrize("command", ["shots", "calibrate", "audit"])
def test_every_command_names_a_split_that_does_not_exist(command):
    with pytest.raises(BadInput, match="there is no split 'nowhere'; splits: calibration, train"):
        execute([command, "--split", "nowhere"])


@pytest.mark.parametrize(
    ("steps", "said"),
    [("-1", "--locked-steps must be at least 0, got -1"), ("126", "locked_steps must be between 0 and 125, got 126")],
)
def test_a_mallet_is_locked_within_an_episode(steps, said):
    with pytest.raises(BadInput, match=said):
        execute(["calibrate", "--locked-steps", steps])


@pytest.mark.parametrize("passed", [True, False])
def test_an_audit_is_shown_beside_its_limits(passed, figures, monkeypatch, capsys):
    monkeypatch.setattr("blindsave.task.audit.audit", lambda split: figures | {"passed": passed})
    execute(["audit"])
    said = capsys.readouterr().out
    assert "90 of 90 identical" in said and "8.10 mm" in said and "0.315" in said
    assert said.splitlines()[-1] == ("passed" if passed else "FAILED")


def test_shots_that_never_arrive_have_no_approach_time(result, monkeypatch, capsys):
    slow = result | {"approach_time_s": [], "reached_approach_plane": 0}
    monkeypatch.setattr("blindsave.evidence.calibrate.calibrate", lambda split, locked_steps: slow)
    execute(["calibrate"])
    assert "reach the approach plane" not in capsys.readouterr().out
