"""What travels between robot and policy, byte for byte (docs/drive.md); the C side is loop/drive.h."""

import struct
import zlib
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from blindsave.policies.arithmetic import Array
from blindsave.task.interface import ACTION_FLOATS, OBSERVATION_FLOATS

MAGIC, VERSION = b"BSAV", 1
OBSERVATION_KIND, COMMAND_KIND = 1, 2
HEAD = struct.Struct("<4sBBHIIQ")
"""Magic, version, kind, episode (of an observation) or mode (of a command), session, sequence, time stamp."""
OBSERVATION_BYTES = HEAD.size + 4 * OBSERVATION_FLOATS + 4
COMMAND_BYTES = HEAD.size + 4 * ACTION_FLOATS + 4 + 4


class Mode(IntEnum):
    """What a command is worth."""

    RUN = 0
    """The policy saw the puck, or a tracker that says it does not."""
    BLIND = 1
    """The policy acts on a packet that did not come, with the puck hidden."""
    HOLD = 2
    """Too long without packets: the command stands still."""
    STOP = 3
    """The robot must brake by itself."""


@dataclass(frozen=True)
class Command:
    """An answer from the loop."""

    mode: Mode
    session: int
    sequence: int
    stamp_us: int
    action: Array
    tick: int


def observation_packet(session: int, sequence: int, stamp_us: int, observation: Array, episode: int = 0) -> bytes:
    """One observation, ready to be sent."""
    head = HEAD.pack(MAGIC, VERSION, OBSERVATION_KIND, episode % 2**16, session, sequence % 2**32, stamp_us % 2**64)
    body = head + np.asarray(observation, "<f4").tobytes()
    return body + struct.pack("<I", zlib.crc32(body))


def read_command(packet: bytes) -> Command | None:
    """A command, or None for anything else: another length, protocol, version or kind, a check that fails."""
    if len(packet) != COMMAND_BYTES or zlib.crc32(packet[:-4]) != struct.unpack("<I", packet[-4:])[0]:
        return None
    magic, version, kind, mode, session, sequence, stamp_us = HEAD.unpack_from(packet)
    if (magic, version, kind) != (MAGIC, VERSION, COMMAND_KIND) or mode > max(Mode):
        return None
    action = np.frombuffer(packet, "<f4", ACTION_FLOATS, HEAD.size).astype(np.float32)
    if not np.isfinite(action).all():
        return None
    (tick,) = struct.unpack_from("<I", packet, HEAD.size + 4 * ACTION_FLOATS)
    return Command(Mode(mode), session, sequence, stamp_us, action, tick)
