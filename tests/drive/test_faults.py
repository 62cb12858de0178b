"""A faulty line: what it does is counted, drawn from a seed, and nothing where nothing was asked for."""

import pytest

from blindsave.drive.faults import Faults, Line
from blindsave.errors import BadInput

PACKETS = [bytes([i] * 50) for i in range(200)]


def carried(faults: Faults) -> tuple[list[bytes], Line]:
    line = Line(faults)
    return [out for packet in PACKETS for out in line.carry(packet)], line


def test_a_sound_line_carries_everything_in_order():
    assert carried(Faults())[0] == PACKETS and not Faults().any


def test_losses_and_doubles_are_counted():
    lost, line = carried(Faults(loss=0.3))
    assert len(lost) == 200 - line.counts["loss"] and 30 < line.counts["loss"] < 90
    doubled, line = carried(Faults(duplicate=0.3))
    assert len(doubled) == 200 + line.counts["duplicate"] > 200


def test_overtaken_packets_arrive_after_the_next():
    swapped, line = carried(Faults(reorder=0.3))
    assert swapped != PACKETS and line.counts["reorder"] > 0
    assert sorted(swapped) == PACKETS[: len(swapped)] or len(swapped) >= 199
    assert all(abs(PACKETS.index(packet) - i) <= 2 for i, packet in enumerate(swapped))


def test_damage_changes_a_bit_or_cuts():
    damaged, _ = carried(Faults(corrupt=1.0))
    bits = [bin(int.from_bytes(a) ^ int.from_bytes(b)).count("1") for a, b in zip(damaged, PACKETS, strict=True)]
    assert set(bits) == {1}
    assert all(len(packet) < 50 for packet in carried(Faults(truncate=1.0))[0])
    assert len(carried(Faults(garbage=1.0))[0]) == 400


def test_silence_and_clock_steps_begin_where_told():
    quiet, line = carried(Faults(silence=(10, 50)))
    assert quiet == PACKETS[:10] + PACKETS[60:] and line.counts["silence"] == 50
    line = Line(Faults(clock_step=(2, -7)))
    errors = []
    for packet in PACKETS[:4]:
        errors.append(line.clock_error_us())
        line.carry(packet)
    assert errors == [0, 0, -7, -7]


def test_the_same_seed_is_the_same_misfortune():
    faults = Faults(0.2, 0.2, 0.2, 0.2, 0.2, 0.2)
    assert carried(faults)[0] == carried(faults)[0] != carried(Faults(0.2, 0.2, 0.2, 0.2, 0.2, 0.2, seed=1))[0]


def test_shares_are_between_none_and_all():
    with pytest.raises(BadInput, match="--loss"):
        Faults(loss=1.5)
