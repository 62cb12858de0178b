"""The pure loop called from tests: a script of packets and ticks in, verdicts and commands out."""

import shutil
import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from blindsave.deploy.toolchain import WARNINGS
from blindsave.drive.packets import observation_packet
from blindsave.drive.sources import write_sources
from blindsave.policies import load

POLICY = "structured_k0/14303"
HARNESS = str(Path(__file__).parent / "drive_harness.c")
FRESH, REPEATED, LATE, LENGTH, FOREIGN, CORRUPT, NOT_FINITE, STRANGER = range(8)
RUN, BLIND, HOLD, STOP = range(4)
SANITIZERS = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
COUNTS = ("missing", "stale", "clock_steps", "restarts", "limited", "broken")


class Said(NamedTuple):
    """What one call led to; mode -1 is no command."""

    verdict: int
    mode: int
    sequence: int
    x: float
    y: float


@dataclass
class Script:
    """Calls in order; time passes by 20 ms with every packet and tick."""

    session: int = 7
    now_us: int = 1_000_000
    records: list[bytes] = field(default_factory=list)
    clock_us: int = 0
    episode: int = 0

    def raw(self, packet: bytes, pause_us: int = 0) -> "Script":
        self.now_us += pause_us
        self.records.append(b"R" + struct.pack("<QH", self.now_us, len(packet)) + packet)
        return self

    def packet(self, sequence: int, seen=None, *, first: bool = False, age_us: int = 0, pause_us: int = 20_000):
        self.now_us += pause_us
        self.episode += first
        stamp = self.now_us + self.clock_us - age_us
        return self.raw(
            observation_packet(
                self.session, sequence, stamp, observation(sequence) if seen is None else seen, self.episode
            )
        )

    def ticks(self, count: int = 1) -> "Script":
        for _ in range(count):
            self.now_us += 20_000
            self.records.append(b"T" + struct.pack("<QH", self.now_us, 0))
        return self


def observation(sequence: int) -> np.ndarray:
    """A plausible observation of its own for every number, puck visible."""
    rng = np.random.default_rng(sequence)
    seen = rng.uniform(-0.5, 0.5, 19).astype(np.float32)
    seen[18] = 1.0
    return seen


def hidden(seen: np.ndarray) -> np.ndarray:
    seen = seen.copy()
    seen[16:] = 0.0
    return seen


def compiled(folder: Path, *flags: str) -> Path:
    """The harness around the shipped linear memory."""
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    write_sources(load(POLICY), folder)
    command = ["gcc", *WARNINGS, *(flags or ("-O2",)), "-I", str(folder), "-o", str(folder / "harness")]
    subprocess.run([*command, HARNESS, str(folder / "drive.c")], check=True, capture_output=True)
    return folder / "harness"


def called(harness: Path, script: Script | Sequence[bytes], *settings: object) -> tuple[list[Said], dict[str, int]]:
    """Run a script; what was said, and the counters at the end."""
    records = script.records if isinstance(script, Script) else script
    words = [str(harness), *map(str, settings)]
    done = subprocess.run(words, input=b"".join(records), capture_output=True)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    *lines, last = done.stdout.decode().splitlines()
    said = [Said(int(v), int(m), int(s), float.fromhex(x), float.fromhex(y)) for v, m, s, x, y in map(str.split, lines)]
    return said, dict(zip(COUNTS, map(int, last.split()[1:]), strict=True))


def actions_of(observations) -> np.ndarray:
    """What the policy itself asks for over these observations, from the start."""
    return load(POLICY).unroll(np.stack(observations))[1]
