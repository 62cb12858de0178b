"""Bytes on the wire: as documented, and nothing else is read."""

import struct
import zlib

import numpy as np

from blindsave.drive import packets
from blindsave.drive.packets import Mode, observation_packet, read_command

SEEN = np.arange(19, dtype=np.float32)


def command(mode: int = 0, action=(0.25, -0.5), kind: int = 2, version: int = 1) -> bytes:
    body = struct.pack("<4sBBHIIQ2fI", b"BSAV", version, kind, mode, 7, 8, 9, *action, 10)
    return body + struct.pack("<I", zlib.crc32(body))


def test_an_observation_is_what_the_documentation_says():
    packet = observation_packet(0x01020304, 5, 6, SEEN, 0x0201)
    assert len(packet) == packets.OBSERVATION_BYTES == 104
    assert packet[:8] == b"BSAV\x01\x01\x01\x02" and packet[8:12] == b"\x04\x03\x02\x01"
    assert struct.unpack_from("<IQ", packet, 12) == (5, 6)
    assert np.array_equal(np.frombuffer(packet, "<f4", 19, 24), SEEN)
    assert struct.unpack_from("<I", packet, 100)[0] == zlib.crc32(packet[:100])


def test_numbers_wrap_and_clocks_may_be_before_zero():
    packet = observation_packet(1, 2**32 + 3, -1, SEEN)
    assert struct.unpack_from("<IQ", packet, 12) == (3, 2**64 - 1) and packet[6] == 0


def test_a_command_is_read_as_written():
    found = read_command(command(mode=2))
    assert found is not None and len(command()) == packets.COMMAND_BYTES == 40
    assert (found.mode, found.session, found.sequence, found.stamp_us, found.tick) == (Mode.HOLD, 7, 8, 9, 10)
    assert found.action.tolist() == [0.25, -0.5]


def test_anything_else_is_no_command():
    good = command()
    others = [b"", good[:-1], good + b"x", good[:30] + b"\xff" + good[31:], command(kind=1), command(version=2)]
    others += [command(mode=9), command(action=(float("nan"), 0.0)), observation_packet(1, 2, 3, SEEN)]
    assert [read_command(packet) for packet in others] == [None] * len(others)
