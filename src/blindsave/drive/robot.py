"""The arena as a robot on the network: it sends what its tracker sees and does what the answers say."""

import select
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from blindsave.drive.faults import Faults, Line
from blindsave.drive.packets import Command, Mode, observation_packet, read_command
from blindsave.errors import BadInput
from blindsave.policies.arithmetic import Array
from blindsave.task.defend import DefendBatch
from blindsave.task.episode import Episode
from blindsave.task.interface import MALLET
from blindsave.task.outcomes import Outcome

ANSWER_S = 30.0
"""How long a robot that keeps in step waits before it gives up."""
WATCHDOG_TICKS = 10
"""Ticks without a command after which the robot brakes by itself."""
MOST_BYTES = 2048


@dataclass
class Played:
    """How the episodes ended and what happened on the way."""

    outcomes: list[int] = field(default_factory=list)
    ticks: int = 0
    unanswered: int = 0
    braked: int = 0
    overruns: int = 0
    modes: dict[str, int] = field(default_factory=lambda: {mode.name.lower(): 0 for mode in Mode})
    round_trip_us: list[float] = field(default_factory=list)

    @property
    def saves(self) -> int:
        """Episodes that ended in a save."""
        return sum(Outcome(code).saved for code in self.outcomes)


class Robot:
    """Plays episodes against a loop at `address`.

    In step (`rate_hz` None) every observation waits for its answer, so the result is a function of policy and episodes
    alone. At a rate the arena is a robot in real time: it acts on the newest command there is when a period ends.
    """

    def __init__(
        self,
        address: tuple[str, int],
        *,
        rate_hz: float | None = None,
        faults: Faults | None = None,
        session: int | None = None,
    ) -> None:
        self.period_s = None if rate_hz is None else 1.0 / rate_hz
        self.session = time.time_ns() % 2**32 if session is None else session
        self.line, self.back = Line(faults or Faults()), Line(Faults())
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self.socket.connect(address)
        except OSError as error:
            raise BadInput(f"{address[0]}:{address[1]} cannot be reached: {error.strerror or error}") from None
        self.socket.setblocking(False)
        self.sequence = self.episode = 0
        self.played = Played()
        self._due = 0.0

    def __enter__(self) -> "Robot":
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def play(self, episodes: Sequence[Episode], tell: Callable[[int], Any] = lambda _count: None) -> Played:
        """Play episodes one after the other."""
        batch = DefendBatch(1, threads=1)
        self._due = time.perf_counter()
        for episode in episodes:
            batch.reset([episode])
            self._episode(batch)
            self.episode += 1
            self.played.outcomes.append(int(batch.outcome[0]))
            tell(1)
        return self.played

    def _episode(self, batch: DefendBatch) -> None:
        silent, target = 0, np.zeros(2, np.float32)
        while batch.outcome[0] == Outcome.RUNNING:
            seen = batch.obs[0].copy()
            command = self.ask(seen)
            self.played.ticks += 1
            silent = 0 if command else silent + 1
            if command is None:
                self.played.unanswered += 1
            else:
                self.played.modes[command.mode.name.lower()] += 1
                target = command.action
            if silent > WATCHDOG_TICKS or (command and command.mode == Mode.STOP):
                self.played.braked += 1
                target = seen[MALLET].copy()
            batch.step(target[None])

    def ask(self, seen: Array) -> Command | None:
        """Send an observation; the command for it, or at a rate the newest one when the period ends."""
        began, sequence = time.perf_counter(), self.sequence
        stamp = time.monotonic_ns() // 1000 + self.line.clock_error_us()
        for packet in self.line.carry(observation_packet(self.session, sequence, stamp, seen, self.episode)):
            self._send(packet)
        self.sequence += 1
        if self.period_s is None:
            found = self._wait(sequence, began + ANSWER_S, lambda one: one.sequence == sequence)
            if found is None:
                raise BadInput(f"no answer came for {ANSWER_S:.0f} s; is `blindsave drive --in-step` running there?")
            self.played.round_trip_us.append(1e6 * (time.perf_counter() - began))
            return found
        self._due += self.period_s
        if self._due < began:
            self.played.overruns += 1
            self._due = began
        return self._wait(sequence, self._due, lambda _: False)

    def _send(self, packet: bytes) -> None:
        try:
            self.socket.send(packet)
        except (ConnectionRefusedError, BlockingIOError):
            return  # nobody listens yet, or the line is full: lost, like any other packet

    def _wait(self, sequence: int, until: float, enough: Callable[[Command], bool]) -> Command | None:
        """The newest command received until then, or the first that is enough."""
        newest: Command | None = None
        while True:
            left = until - time.perf_counter()
            ready = select.select([self.socket], [], [], max(0.0, left))[0]
            if not ready:
                return newest
            try:
                command = read_command(self.socket.recv(MOST_BYTES))
            except (ConnectionRefusedError, BlockingIOError):
                if left > 0:
                    time.sleep(min(left, 0.01))
                continue
            if command is None or command.session != self.session:
                continue
            newest = command
            if enough(command):
                return command
