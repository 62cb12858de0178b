"""The arena commands: recorded actions are run again, speeds are set beside each other."""

import json

import numpy as np
import pytest

from blindsave.cli import execute
from blindsave.cli.arena import BenchSim
from blindsave.errors import BadFile, BadInput

SCENARIO = {
    "names": np.array(["one", "two"]),
    "length": np.array([3, 2]),
    "launch": np.array([[0.5, 0.0, 0.0, -1.0, 0.0, 0.0], [0.5, 0.1, 0.0, -2.0, 0.0, 0.0]]),
    "action": np.zeros((2, 3, 2), np.float32),
}


def test_a_replay_writes_every_field_and_says_what_it_did(tmp_path, capsys):
    np.savez(tmp_path / "in.npz", **SCENARIO)
    execute(["replay", str(tmp_path / "in.npz"), "--out", str(tmp_path / "out.npz"), "--threads", "1", "--json"])
    assert isinstance(json.loads(capsys.readouterr().out), dict)
    with np.load(tmp_path / "out.npz") as found:
        assert found["names"].tolist() == ["one", "two"]
        puck = found["puck_pos"]
    assert puck[0, 0, 0] == pytest.approx(0.5, abs=0.05) and puck[0, 2, 0] < puck[0, 0, 0]


@pytest.mark.parametrize("content", [None, b"not an archive"])
def test_a_replay_of_no_recording_writes_nothing(tmp_path, content):
    if content is not None:
        (tmp_path / "in.npz").write_bytes(content)
    with pytest.raises(BadFile, match=r"in\.npz"):
        execute(["replay", str(tmp_path / "in.npz"), "--out", str(tmp_path / "out.npz")])
    assert not (tmp_path / "out.npz").exists()


@pytest.mark.parametrize("option", ["--tables", "--rounds"])
def test_a_benchmark_of_nothing_is_refused(option):
    with pytest.raises(BadInput, match=f"{option} must be at least 1, got 0"):
        execute(["bench", "sim", option, "0"])


def test_speeds_are_shown_with_the_cores_share_of_each(capsys):
    result = {
        "control_steps_per_s": 1000.4,
        "raw_physics_control_steps_per_s": 1250.0,
        "fraction_of_raw": 0.8,
        "reference_control_steps_per_s": 10.0,
        "times_reference": 100.0,
        "threads": 2,
        "control_steps_per_s_all_threads": 1900.0,
        "thread_scaling": 0.95,
        "original_control_steps_per_s_measured_elsewhere": 125,
        "times_original_measured_elsewhere": 8.0,
    }
    BenchSim().show(result)
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("│")]
    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines]
    assert cells[0] == ["compiled core", "1000", ""]
    assert cells[1] == ["raw MuJoCo physics alone", "1250", "80.0%"]
    assert cells[-1] == ["compiled core, 2 threads", "1900", "95% efficiency"]
