"""The commands that put a policy on a robot, as a user runs them."""

import json
import re
import subprocess
import sys

import pytest

from blindsave.cli.robot import BenchDrive, Drive, RobotCommand, address_of
from blindsave.deploy.toolchain import compiler
from blindsave.errors import BadInput

pytestmark = pytest.mark.skipif(compiler() is None, reason="no C compiler")


def blindsave(*words: str) -> list[str]:
    return [sys.executable, "-m", "blindsave", *words]


def test_loop_and_robot_meet_on_the_command_line_and_the_log_replays(tmp_path):
    log = str(tmp_path / "run.log")
    words = blindsave("drive", "--in-step", "--port", "0", "--log", log, "--json")
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as loop:
        assert loop.stderr is not None
        where = re.search(r"listens on (\S+);", loop.stderr.readline())
        assert where is not None
        words = blindsave("robot", "--to", where[1], "--in-step", "--shots", "5", "--json")
        robot = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
        loop.terminate()
        drive = json.loads(loop.communicate(timeout=30)[0])
    assert robot["shots"] == 5 == len(robot["saved"]) and robot["saves"] == sum(robot["saved"])
    assert drive["packets"]["fresh"] == robot["ticks"] and drive["log"] == log
    words = blindsave("drive", "--replay", log, "--json")
    again = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    assert again["ok"] and again["ticks"] == drive["ticks"]


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (Drive(bind="nowhere"), "--bind must be an IPv4 address"),
        (Drive(port=70_000), "--port must be between"),
        (Drive(rate_hz=0.5), "--rate-hz must be between"),
        (Drive(blind_ticks=60), "--blind-ticks must be at most"),
        (Drive(max_step=0.0), "--max-step must be above zero"),
        (Drive(policy="inactive"), "cannot be exported"),
        (RobotCommand(to="here"), "--to must be an IPv4 address and a port"),
        (RobotCommand(loss=2.0), "--loss must be between 0 and 1"),
        (RobotCommand(blackout=500), "does not fit"),
        (RobotCommand(condition="fog_3"), "fog"),
        (BenchDrive(rate_hz=0.0), "--rate-hz must be between"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(command, sentence):
    with pytest.raises(BadInput, match=sentence):
        command.run()


def test_a_log_that_is_not_there_is_named(tmp_path):
    with pytest.raises(BadInput, match="is not a file"):
        Drive(replay=tmp_path / "none.log").run()


def test_addresses_are_read():
    assert address_of("localhost:1") == ("127.0.0.1", 1) and address_of("10.0.0.7:4750") == ("10.0.0.7", 4750)
    for wrong in ("", ":1", "1.2.3.4", "1.2.3.4:", "1.2.3.4:0", "1.2.3.4:99999", "1.2.3:5", "1.2.3.4:٣"):
        with pytest.raises(BadInput):
            address_of(wrong)


def test_the_strain_in_small_passes_and_prints_a_table(capsys, monkeypatch):
    from blindsave.drive import soak

    whole = soak.campaign
    monkeypatch.setattr(soak, "campaign", lambda rate: {"loss": whole(rate)["loss"]})
    some = soak.shots("validation")[:6]
    monkeypatch.setattr(soak, "shots", lambda split: some)
    command = BenchDrive(ticks=1000, fault_ticks=600, rate_hz=500.0)
    result = command.run()
    assert result["ok"] and result["loopback"]["wrong"] == 0 and result["loopback"]["replayed"]
    command.show(result)
    said = capsys.readouterr().out
    assert "loss" in said and "6 shots" in said and said.count("0 outcomes differ") == 3
