"""The loop under strain: a million ticks against the policy itself, and every fault that packets can have."""

import math
import select
import socket
import struct
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from blindsave.drive.faults import Faults, Line
from blindsave.drive.loop_process import DriveOptions, DriveProcess, replay
from blindsave.drive.packets import COMMAND_BYTES, Command, Mode, observation_packet, read_command
from blindsave.drive.robot import Robot
from blindsave.errors import BadInput
from blindsave.policies.arithmetic import Array
from blindsave.policies.closed_loop import run
from blindsave.task.conditions import condition, grid
from blindsave.task.shots import shots

SESSION = 1
EPISODE = 126
"""Observations after which the robot begins an episode anew."""
Progress = Callable[[int], Any]


def million(program: Path, policy: Any, seen: Array, ticks: int, log: Path | None, tell: Progress) -> dict[str, Any]:
    """Ticks in step as fast as the loopback goes; every action must be the policy's own, to the bit."""
    session, wrong = policy.session(), 0
    started = time.perf_counter()
    with DriveProcess(program, DriveOptions.in_step(log=log, deadline_us=1000)) as loop, _connected(loop) as line:
        for tick in range(ticks):
            first, observation = tick % EPISODE == 0, seen[tick % len(seen)]
            line.send(observation_packet(SESSION, tick, tick, observation, tick // EPISODE))
            if first:
                session.reset()
            expected = session.step(observation)
            answer = _answer(line)
            wrong += answer[24:32] != expected.tobytes() or struct.unpack_from("<I", answer, 12)[0] != tick
            if tick % 1000 == 999:
                tell(1000)
        wall_s = time.perf_counter() - started
        said = loop.stop()
    return {"wrong": wrong, "ticks_per_s": ticks / wall_s, "wall_s": wall_s, **said}


def shots_in_step(program: Path, policy: Any, split: str, blackout: int, under: str) -> dict[str, Any]:
    """Every shot of a split through the loop, against the same policy evaluated without one."""
    episodes = grid(shots(split), (blackout,), condition(under))
    with DriveProcess(program, DriveOptions.in_step()) as loop, Robot(loop.address) as robot:
        played = robot.play(episodes)
    expected = run(policy, episodes)
    differ = int(np.count_nonzero(expected.outcome != np.array(played.outcomes)))
    where = {"split": split, "blackout": blackout, "condition": under}
    saves = {"saves": played.saves, "saves_evaluated": int(expected.saved.sum()), "outcomes_that_differ": differ}
    return {**where, "shots": len(episodes), **saves}


def _connected(loop: DriveProcess) -> socket.socket:
    line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    line.connect(loop.address)
    line.settimeout(30.0)
    return line


def _answer(line: socket.socket) -> bytes:
    try:
        packet = line.recv(2048)
    except TimeoutError:
        raise BadInput("the loop fell silent") from None
    if len(packet) != COMMAND_BYTES or zlib.crc32(packet[:-4]) != struct.unpack("<I", packet[-4:])[0]:
        raise BadInput("the loop sent a packet that is no command")
    return packet


def campaign(rate_hz: float) -> dict[str, Faults]:
    """Every fault by itself, and all of them at once."""
    ten_seconds = math.ceil(10 * rate_hz)
    return {
        "loss": Faults(loss=0.3),
        "duplication": Faults(duplicate=0.3),
        "reordering": Faults(reorder=0.3),
        "silence": Faults(silence=(500, ten_seconds)),
        "garbage": Faults(garbage=0.5),
        "corruption": Faults(corrupt=0.3),
        "truncation": Faults(truncate=0.3),
        "clock_forward": Faults(clock_step=(500, 3_600_000_000)),
        "clock_back": Faults(clock_step=(500, -3_600_000_000)),
        "everything": Faults(0.3, 0.2, 0.2, 0.1, 0.1, 0.2, (500, ten_seconds), (900 + ten_seconds, -60_000_000)),
    }


@dataclass
class Watch:
    """What the robot saw of the loop during one fault."""

    commands: int = 0
    unsafe: int = 0
    """Commands that are no numbers, leave the box or do not fit the mode."""
    moved_while_held: int = 0
    modes: tuple[int, ...] = (0, 0, 0, 0)
    last: Command | None = None

    def see(self, packet: bytes) -> None:
        """Judge one command."""
        command = read_command(packet)
        self.commands += 1
        if command is None or np.abs(command.action).max() > 1:
            self.unsafe += 1
            return
        counts = list(self.modes)
        counts[command.mode] += 1
        self.modes = tuple(counts)
        before, self.last = self.last, command
        if before is not None and before.mode >= Mode.HOLD and command.mode == Mode.STOP:
            self.moved_while_held += bool((command.action != before.action).any())


def faulty(program: Path, seen: Array, faults: Faults, ticks: int, rate_hz: float, log: Path) -> dict[str, Any]:
    """One fault for `ticks` packets at a rate, then as many without: the loop must run as if nothing had been."""
    watch, line = Watch(), Line(faults)
    options = DriveOptions.at_rate(rate_hz, log=log)
    with DriveProcess(program, options) as loop, _connected(loop) as plug:
        clear = ticks + max(faults.silence[1], 0)
        due, recovered = time.perf_counter(), 0
        for tick in range(clear + ticks):
            stamp = time.monotonic_ns() // 1000 + line.clock_error_us()
            packet = observation_packet(SESSION, tick, stamp, seen[tick % len(seen)])
            for leaving in line.carry(packet) if tick < clear else [packet]:
                if leaving:
                    plug.send(leaving)
            due = max(due + 1 / rate_hz, time.perf_counter() - 0.1)
            _listen(plug, due, watch)
            if tick >= clear and not recovered and watch.last is not None and watch.last.mode == Mode.RUN:
                recovered = tick - clear + 1
        said = loop.stop()
        _listen(plug, time.perf_counter() + 0.05, watch)
    again = replay(program, log)
    return {
        "packets": clear,
        "injected": {name: count for name, count in line.counts.items() if count},
        "commands": watch.commands,
        "modes": dict(zip(("run", "blind", "hold", "stop"), watch.modes, strict=True)),
        "unsafe": watch.unsafe,
        "moved_while_stopped": watch.moved_while_held,
        "recovered_after": recovered,
        "last_word": watch.last.mode.name.lower() if watch.last else None,
        "seen": said["packets"],
        "missing": said["missing"],
        "stale": said["stale"],
        "clock_steps": said["clock_steps"],
        "restarts": said["restarts"],
        "replayed": again["equal"],
        "ok": not watch.unsafe and not watch.moved_while_held and recovered > 0 and again["equal"],
    }


def _listen(plug: socket.socket, until: float, watch: Watch) -> None:
    while select.select([plug], [], [], max(0.0, until - time.perf_counter()))[0]:
        watch.see(plug.recv(2048))
