"""The pure loop: what it does with every kind of packet, and with none."""

import struct
import subprocess
import zlib

import numpy as np
import pytest
from drive_calls import (
    BLIND,
    CORRUPT,
    FOREIGN,
    FRESH,
    HARNESS,
    HOLD,
    LATE,
    LENGTH,
    NOT_FINITE,
    REPEATED,
    RUN,
    SANITIZERS,
    STOP,
    STRANGER,
    Script,
    actions_of,
    called,
    compiled,
    hidden,
    observation,
)

from blindsave.drive.packets import observation_packet


@pytest.fixture(scope="module")
def harness(tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("loop"))


def started(count: int = 3) -> Script:
    """An episode that has begun: packets 0 to count - 1."""
    script = Script()
    for sequence in range(count):
        script.packet(sequence, first=sequence == 0)
    return script


def checked(body: bytes) -> bytes:
    return body[:-4] + struct.pack("<I", zlib.crc32(body[:-4]))


def same(said, action) -> bool:
    return np.array_equal(np.array([said.x, said.y], np.float32), action)


def test_answers_are_the_policys_own_to_the_bit(harness):
    said, _ = called(harness, started(60))
    expected = actions_of([observation(i) for i in range(60)])
    assert all(one.verdict == FRESH and one.mode == RUN and one.sequence == i for i, one in enumerate(said))
    assert all(same(one, action) for one, action in zip(said, expected, strict=True))


def test_before_any_packet_nothing_is_sent(harness):
    said, _ = called(harness, Script().ticks(3))
    assert [one.mode for one in said] == [-1, -1, -1]


def test_a_missing_packet_is_a_hidden_puck(harness):
    said, counts = called(harness, started(3).packet(4).packet(5))
    seen = [observation(i) for i in range(3)]
    expected = actions_of([*seen, hidden(seen[2]), observation(4), observation(5)])
    assert same(said[3], expected[4]) and same(said[4], expected[5]) and counts["missing"] == 1


def test_a_tick_without_a_packet_is_a_hidden_puck_and_its_packet_comes_too_late(harness):
    said, counts = called(harness, started(3).ticks(1).packet(3).packet(4))
    seen = [observation(i) for i in range(3)]
    expected = actions_of([*seen, hidden(seen[2]), observation(4)])
    assert [one.mode for one in said[3:]] == [BLIND, -1, RUN] and said[4].verdict == LATE
    assert same(said[3], expected[3]) and same(said[5], expected[4]) and counts["missing"] == 1


def test_repeated_and_swapped_packets_change_nothing(harness):
    plain, _ = called(harness, started(3).packet(4).packet(5))
    said, _ = called(harness, started(3).packet(2).packet(4).packet(3).packet(4).packet(0).packet(5))
    assert [one.verdict for one in said[3:]] == [REPEATED, FRESH, LATE, REPEATED, REPEATED, FRESH]
    assert said[4] == plain[3] and said[8] == plain[4]


def test_silence_is_blindness_then_standing_still_then_a_stop(harness):
    said, _ = called(harness, started(10).ticks(60))
    modes = [one.mode for one in said[10:]]
    assert modes == [BLIND] * 25 + [HOLD] * 25 + [STOP] * 10
    held = {(one.x, one.y) for one in said[10 + 24 :]}
    assert len(held) == 1


def test_after_a_stop_the_robot_moves_again_after_three_good_packets_with_a_fresh_memory(harness):
    script = started(10).ticks(60)
    for sequence in range(200, 206):
        script.packet(sequence)
    said, counts = called(harness, script)
    fresh = actions_of([observation(i) for i in range(200, 206)])
    assert [one.mode for one in said[-6:]] == [HOLD, HOLD, RUN, RUN, RUN, RUN]
    assert same(said[-4], fresh[2]) and same(said[-1], fresh[5]) and counts["restarts"] == 1
    held = said[-6]
    assert (held.x, held.y) == tuple(observation(200)[14:16].tolist())


def test_while_recovering_another_silence_stops_at_once(harness):
    said, _ = called(harness, started(10).ticks(60).packet(200).ticks(1).packet(202).packet(203).packet(204))
    assert [one.mode for one in said[-5:]] == [HOLD, STOP, HOLD, HOLD, RUN]


def test_after_standing_still_the_next_packet_is_enough(harness):
    said, _ = called(harness, started(10).ticks(30).packet(40))
    assert said[-2].mode == HOLD and said[-1].mode == RUN and same(said[-1], actions_of([observation(40)])[0])


def test_a_robot_that_paused_is_believed_after_three_late_packets(harness):
    script = started(3).ticks(5)
    for sequence in range(3, 8):
        script.packet(sequence)
    said, _ = called(harness, script)
    assert [one.verdict for one in said[-5:]] == [LATE, LATE, FRESH, FRESH, FRESH]


def test_a_new_episode_begins_at_once_and_forgets(harness):
    said, _ = called(harness, started(5).packet(5, observation(50), first=True).packet(6))
    expected = actions_of([observation(50), observation(6)])
    assert same(said[5], expected[0]) and same(said[6], expected[1]) and said[5].mode == RUN
    stopped, _ = called(harness, started(5).ticks(60).packet(70, observation(50), first=True))
    assert stopped[-2].mode == STOP and stopped[-1].mode == RUN and same(stopped[-1], expected[0])


def test_another_robot_is_heard_only_when_it_has_just_started_or_the_first_fell_silent(harness):
    script = started(5)
    script.session = 8
    said, _ = called(harness, script.packet(100, first=True).packet(2).packet(3))
    assert [one.verdict for one in said[5:]] == [STRANGER, FRESH, FRESH]
    assert same(said[6], actions_of([observation(2)])[0]) and said[6].mode == RUN
    script = started(5).ticks(30)
    script.session = 8
    assert called(harness, script.packet(100))[0][-1].verdict == FRESH


def test_damage_is_named_and_ignored(harness):
    good = observation_packet(7, 3, 0, observation(3))
    broken = observation(3)
    broken[4] = np.nan
    wrong = [
        (good[:-1], LENGTH),
        (good + b"x", LENGTH),
        (b"", LENGTH),
        (b"XSAV" + good[4:], FOREIGN),
        (checked(good[:4] + b"\x02" + good[5:]), FOREIGN),
        (checked(good[:5] + b"\x02" + good[6:]), FOREIGN),
        (good[:40] + bytes([good[40] ^ 1]) + good[41:], CORRUPT),
        (observation_packet(7, 3, 0, broken), NOT_FINITE),
    ]
    script = started(3)
    for packet, _ in wrong:
        script.raw(packet)
    said, _ = called(harness, script.packet(3))
    assert [one.verdict for one in said[3:-1]] == [verdict for _, verdict in wrong]
    assert same(said[-1], actions_of([observation(i) for i in range(4)])[3])


def test_an_old_observation_hides_its_puck(harness):
    said, counts = called(harness, started(5).packet(5, age_us=60_000).packet(6))
    expected = actions_of([*(observation(i) for i in range(5)), hidden(observation(5)), observation(6)])
    assert said[5].mode == BLIND and same(said[5], expected[5]) and same(said[6], expected[6])
    assert counts["stale"] == 1 and counts["clock_steps"] == 0


@pytest.mark.parametrize("step_s", [3600, -3600])
def test_a_clock_that_is_set_is_noticed_and_followed(harness, step_s):
    script = started(5)
    script.clock_us = step_s * 1_000_000
    for sequence in range(5, 25):
        script.packet(sequence)
    said, counts = called(harness, script)
    assert counts["clock_steps"] == 1 and [one.mode for one in said[-8:]] == [RUN] * 8
    assert counts["stale"] == (10 if step_s < 0 else 0)


def test_observations_out_of_range_are_clipped_as_in_training(harness):
    far = observation(3) * 1e30
    said, counts = called(harness, started(3).packet(3, far.astype(np.float32)).packet(4))
    expected = actions_of([*(observation(i) for i in range(3)), np.clip(far, -1, 1).astype(np.float32), observation(4)])
    assert same(said[3], expected[3]) and same(said[4], expected[4]) and counts["broken"] == 0


def test_an_action_that_is_no_number_leaves_the_command_and_clears_the_memory(tmp_path):
    glue = (compiled(tmp_path).parent / "drive_policy.h").read_text()
    broken = glue.replace("_step(policy, observation, action);", "_step(policy, observation, action);\n    BREAK", 1)
    broken = broken.replace(
        "BREAK", "if (observation[0] > 0.75f) action[0] = 0.0f / (observation[16] - observation[16]);"
    )
    (tmp_path / "drive_policy.h").write_text(broken)
    command = ["gcc", "-O2", "-I", str(tmp_path), "-o", str(tmp_path / "harness"), HARNESS, str(tmp_path / "drive.c")]
    subprocess.run(command, check=True, capture_output=True)
    odd = observation(3)
    odd[0] = 0.9
    said, counts = called(tmp_path / "harness", started(3).packet(3, odd).packet(4).packet(5))
    assert counts["broken"] == 1 and said[3].mode == HOLD and said[3][3:] == said[2][3:]
    assert said[4].mode == RUN and same(said[5], actions_of([observation(4), observation(5)])[1])


def test_a_limit_on_steps_holds_from_where_the_arm_is(harness):
    said, counts = called(harness, started(40), 25, 50, 0, 0.05)
    path = np.array([observation(0)[14:16], *((one.x, one.y) for one in said)])
    assert np.abs(np.diff(path, axis=0)).max() <= 0.05 + 1e-6 and counts["limited"] > 0


def test_nonsense_is_refused_as_a_configuration(harness):
    with pytest.raises(AssertionError):
        called(harness, Script(), 60, 50, 0, 2.0)
    with pytest.raises(AssertionError):
        called(harness, Script(), 25, 50, 0, "nan")


def test_sequence_numbers_wrap_around(harness):
    script, start = Script(), 2**32 - 3
    for i in range(8):
        script.packet((start + i) % 2**32, observation(i), first=i == 0)
    said, counts = called(harness, script)
    assert all(one.verdict == FRESH for one in said) and counts["missing"] == 0
    assert same(said[-1], actions_of([observation(i) for i in range(8)])[-1])


def mutated(rng: np.random.Generator, count: int) -> Script:
    """Packets that are right, wrong, and checked although wrong, with ticks between them."""
    script, sequence = Script(), 0
    for _ in range(count):
        sequence += int(rng.choice([1, 1, 1, 0, 2, -1, 40, 2**31, -(2**30)]))
        seen = rng.choice([observation(sequence % 1000), rng.normal(0, 1e30, 19).astype(np.float32)])
        stamp = int(rng.integers(0, 2**63)) if rng.random() < 0.2 else script.now_us
        packet = bytearray(observation_packet(int(rng.integers(6, 8)), sequence, stamp, seen, int(rng.random() < 0.05)))
        kind = rng.integers(6)
        if kind == 0:
            packet = packet[: int(rng.integers(0, len(packet)))]
        elif kind == 1:
            packet = bytearray(rng.bytes(int(rng.integers(0, 400))))
        elif kind == 2:
            for _ in range(int(rng.integers(1, 8))):
                packet[int(rng.integers(len(packet)))] = int(rng.integers(256))
        elif kind == 3:  # damage with a check that agrees
            for _ in range(int(rng.integers(1, 8))):
                packet[int(rng.integers(4, len(packet)))] = int(rng.integers(256))
            packet = bytearray(checked(bytes(packet)))
        script.raw(bytes(packet), int(rng.integers(0, 50_000)))
        if rng.random() < 0.3:
            script.ticks(int(rng.integers(1, 5)))
        elif rng.random() < 0.01:
            script.ticks(60)
    return script


def test_twenty_thousand_hostile_packets_under_sanitizers_leave_safe_commands_and_a_loop_that_recovers(tmp_path):
    harness = compiled(tmp_path, *SANITIZERS)
    script = mutated(np.random.default_rng(0), 20_000)
    script.session = 99  # a robot that has just started
    for sequence in range(10):
        script.packet(sequence)
    said, _ = called(harness, script)
    commands = np.array([(one.x, one.y) for one in said if one.mode >= 0])
    assert len(commands) > 5000 and np.isfinite(commands).all() and np.abs(commands).max() <= 1
    assert {one.verdict for one in said} >= set(range(8)) and {one.mode for one in said} == {-1, RUN, BLIND, HOLD, STOP}
    expected = actions_of([observation(i) for i in range(10)])
    assert all(same(one, action) for one, action in zip(said[-10:], expected, strict=True))
