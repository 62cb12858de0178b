"""The loop as a process: it starts, says what happened, and its logs replay."""

import socket

import numpy as np
import pytest

from blindsave.drive import DriveOptions, DriveProcess, replay
from blindsave.drive.packets import Mode, observation_packet, read_command
from blindsave.errors import BadInput


def talk(address, packets):
    answers = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.connect(address)
        line.settimeout(20)
        for packet in packets:
            line.send(packet)
            answers.append(read_command(line.recv(100)))
    return answers


def observations(count: int) -> np.ndarray:
    return np.random.default_rng(0).uniform(-1, 1, (count, 19)).astype(np.float32)


def test_it_answers_with_the_policys_bits_and_its_log_replays(program, policy, tmp_path):
    seen, log = observations(300), tmp_path / "run.log"
    with DriveProcess(program, DriveOptions.in_step(log=log)) as loop:
        answers = talk(loop.address, [observation_packet(1, i, i, row) for i, row in enumerate(seen)])
        said = loop.stop()
    assert np.array_equal([one.action for one in answers], policy.unroll(seen)[1])
    assert said["ticks"] == 300 and said["modes"]["run"] == 300 and not said["log_failed"]
    assert said["work"]["count"] == sum(said["work"]["bins"]) == 300
    assert said["work"]["p50_ns"] <= said["work"]["p999_ns"] <= said["work"]["worst_ns"]
    again = replay(program, log)
    assert again["equal"] and again["packets"] == said["packets"]


def test_it_says_stop_when_it_ends(program):
    with DriveProcess(program, DriveOptions.in_step(ticks=1)) as loop, socket.socket(type=socket.SOCK_DGRAM) as line:
        line.connect(loop.address)
        line.settimeout(20)
        line.send(observation_packet(1, 0, 0, observations(1)[0]))
        modes = [read_command(line.recv(100)).mode for _ in range(2)]  # pyright: ignore
        loop.wait(20)
    assert modes == [Mode.RUN, Mode.STOP]


def test_left_alone_it_goes_blind_then_holds_then_stops(program):
    options = DriveOptions.at_rate(500, ticks=80, blind_ticks=20, stop_ticks=40)
    with DriveProcess(program, options) as loop:
        talk(loop.address, [observation_packet(1, 0, 0, observations(1)[0])])
        said = loop.wait(20)
    assert said["modes"] == {"run": 1, "blind": 20, "hold": 20, "stop": 39} and said["missing"] == 79


def test_a_changed_log_is_noticed_and_a_damaged_one_refused(program, tmp_path):
    log = tmp_path / "run.log"
    with DriveProcess(program, DriveOptions.in_step(log=log)) as loop:
        talk(loop.address, [observation_packet(1, i, i, row) for i, row in enumerate(observations(5))])
        loop.stop()
    whole = log.read_bytes()
    changed = bytearray(whole)
    changed[48 + 11 + 104 + 11 + 25] ^= 1  # in the first command's action
    for name, content, sentence in (
        ("changed", bytes(changed), None),
        ("cut", whole[:-3], "cut off"),
        ("short", whole[:20], "no log"),
        ("version", whole[:4] + b"\x09" + whole[5:], "another version"),
        ("policy", whole[:8] + b"\x00\x00\x00\x00" + whole[12:], "another policy"),
        ("config", whole[:36] + b"\x00\x00\xc0\x7f" + whole[40:], "makes no sense"),
    ):
        (tmp_path / name).write_bytes(content)
        if sentence is None:
            assert replay(program, tmp_path / name)["equal"] is False
        else:
            with pytest.raises(BadInput, match=sentence):
                replay(program, tmp_path / name)


def test_what_it_cannot_do_is_one_sentence(program, tmp_path):
    with DriveProcess(program, DriveOptions()) as loop, pytest.raises(BadInput, match="cannot listen"):
        DriveProcess(program, DriveOptions(port=loop.address[1]))
    with pytest.raises(BadInput, match="cannot write"):
        DriveProcess(program, DriveOptions(log=tmp_path / "nowhere" / "x.log"))
    with pytest.raises(BadInput, match="make no sense"):
        DriveProcess(program, DriveOptions(blind_ticks=60))
