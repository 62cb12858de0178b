"""The arena under visitors: several at once, careless and hostile ones, and those who vanish."""

import gc
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

viser = pytest.importorskip("viser", reason="the extra `play` (viser) is not installed")

from visitor import Visitor, wait  # noqa: E402

from blindsave.draw.policy_looks import title  # noqa: E402
from blindsave.errors import BadInput  # noqa: E402
from blindsave.play.panel import LEFT_POST, RIGHT_POST  # noqa: E402
from blindsave.play.server import Arena, is_loopback  # noqa: E402
from blindsave.policies import closed_loop, load  # noqa: E402
from blindsave.task.conditions import CLEAN  # noqa: E402
from blindsave.task.shots import find  # noqa: E402

HOSTILE = 3000
ATTACK = Path(__file__).parents[1] / "support" / "attack.py"


@pytest.fixture
def arena() -> Iterator[Arena]:
    with Arena(port=0) as open_arena:
        yield open_arena


def the_session(arena: Arena):
    (session,) = arena.sessions.values()
    return session


def outcomes(session) -> dict[str, str]:
    return {table.policy.name: table.outcome.label for table in session.game.take.tables}


def test_the_outcomes_of_a_page_are_those_of_evaluate(arena):
    visitor = Visitor(arena.server.get_port())
    visitor.enter()
    wait(lambda: arena.sessions)
    session = the_session(arena)
    pair = arena.roster.default_pair()
    for label, post in ((LEFT_POST, "near_post_left"), (RIGHT_POST, "near_post_right")):
        visitor.press(label)
        shot = find(f"validation:alias:038:{post}")
        wait(lambda shot=shot: session.game.take and session.game.take.shot is shot and session.game.finished)
        expected = {name: closed_loop.run(load(name), [CLEAN.episode(shot, 20)]).labels[0] for name in pair}
        assert outcomes(session) == expected
        told = f"data-outcome='{expected[pair[0]]}'"
        wait(lambda told=told: any(told in piece for piece in list(visitor.pieces.values())))
    assert sum(score.shots for score in session.game.scores.values()) == 4
    visitor.close()


def test_visitors_have_games_of_their_own_and_closing_frees_them(arena):
    visitors = [Visitor(arena.server.get_port()) for _ in range(4)]
    for visitor in visitors:
        visitor.enter()
    wait(lambda: len(arena.sessions) == 4)
    visitors[0].press(LEFT_POST)
    wait(lambda: sum(s.game.take is not None for s in arena.sessions.values()) == 1)
    visitors[1].set("For (ms)", 0)
    visitors[1].press(RIGHT_POST)
    wait(lambda: sum(s.game.finished for s in arena.sessions.values()) == 2)
    played = [s.game.take for s in arena.sessions.values() if s.game.take]
    assert {take.conditions.blackout_steps for take in played} == {0, 20}
    for visitor in visitors[:3]:
        visitor.close()
    wait(lambda: len(arena.sessions) == 1)
    visitors[3].vanish()
    wait(lambda: not arena.sessions)
    assert arena.figures()["visitors_served"] == 4 and arena.faults == 0


def test_a_full_arena_sends_the_next_visitor_away():
    with Arena(port=0, most_visitors=1) as arena:
        first = Visitor(arena.server.get_port())
        first.enter()
        second = Visitor(arena.server.get_port())
        wait(lambda: not second._reader.is_alive())
        assert second.socket.close_code == 1013 and len(arena.sessions) == 1
        first.close()


def test_pages_of_other_sites_are_sent_away(arena):
    visitor = Visitor(arena.server.get_port(), origin="https://elsewhere.example")
    wait(lambda: not visitor._reader.is_alive())
    assert visitor.socket.close_code == 1008 and not arena.sessions


def test_impossible_settings_are_told_to_their_visitor_only(arena):
    visitor = Visitor(arena.server.get_port())
    visitor.enter()
    wait(lambda: arena.sessions)
    session = the_session(arena)
    visitor.set("Left", "no such goalkeeper")
    visitor.press(LEFT_POST)
    wait(lambda: "no such policy" in session.panel.note.content)
    visitor.set("Left", title("fixed_centre"))
    visitor.set("Shot id", "principal_test:alias:001:near_post_left")
    visitor.press("Launch this shot")
    wait(lambda: "the tests stay closed" in session.panel.note.content)
    assert session.game.take is None
    visitor.set("Noise (mm)", float("nan"))
    visitor.press(LEFT_POST)
    wait(lambda: "noise" in session.panel.note.content)
    assert session.refused == 3 and session.faults == arena.faults == 0
    visitor.close()


def test_a_taken_port_is_said(arena):
    with pytest.raises(BadInput, match="taken"):
        Arena(port=arena.server.get_port())


@pytest.mark.parametrize(
    "host, only_us", [("127.0.0.1", True), ("localhost", True), ("::1", True), ("0.0.0.0", False), ("a.b", False)]
)
def test_loopback_is_known(host, only_us):
    assert is_loopback(host) is only_us


def test_another_address_is_warned_about(arena, capsys):
    arena.announce()
    assert "only this machine" in capsys.readouterr().err
    arena.host, arena.loopback = "0.0.0.0", False
    arena.announce()
    assert "warning" in capsys.readouterr().err


def test_the_door_is_narrow(arena, monkeypatch):
    """Well-formed messages of viser that this arena has no use for reach nobody."""
    asked = []
    monkeypatch.setattr(arena.server, "request_share_url", lambda *_: asked.append("tunnel"))
    visitor = Visitor(arena.server.get_port())
    visitor.enter()
    wait(lambda: arena.sessions)
    session = the_session(arena)
    uuid = visitor.controls["Shot id"]
    kept = len(arena.server._websock_server._broadcast_buffer.message_from_id)
    visitor.send({"type": "ShareUrlRequest"})
    for k in range(50):
        visitor.send({"type": "GuiFormDirtyMessage", "uuid": f"form {k}"})
    upload = {"source_component_uuid": uuid, "transfer_uuid": "t"}
    whole = {"filename": "a", "mime_type": "b", "part_count": 9, "size_bytes": 9}
    visitor.send({"type": "FileTransferStartUpload", **upload, **whole})
    visitor.send({"type": "FileTransferPart", **upload, "part_index": 0, "content": b"x"})
    visitor.send({"type": "GuiUpdateMessage", "uuid": uuid, "updates": {"value": "ours", "update_cb": "gone"}})
    visitor.send({"type": "GuiUpdateMessage", "uuid": uuid, "updates": {"update_cb": "gone"}})
    visitor.set("Shot id", "y" * 5000)
    visitor.set("Shot id", "the last message")
    wait(lambda: session.panel.shot_id == "the last message")
    assert asked == [] and arena.loop_errors.complaints == 0
    assert session.client.gui._current_file_upload_states == {}
    assert len(arena.server._websock_server._broadcast_buffer.message_from_id) == kept
    assert isinstance(session.panel._shot_id._impl.update_cb, list)
    visitor.close()


def test_a_message_far_too_large_ends_its_connection_only(arena):
    visitors = [Visitor(arena.server.get_port()) for _ in range(2)]
    for visitor in visitors:
        visitor.enter()
    visitors[0].socket.send(bytes(200_000))
    wait(lambda: not visitors[0]._reader.is_alive())
    assert visitors[0].socket.close_code == 1009
    wait(lambda: len(arena.sessions) == 1)
    visitors[1].press(LEFT_POST)
    wait(lambda: the_session(arena).game.take is not None)
    visitors[1].close()


def test_a_game_that_fails_is_told_of_once_and_does_not_stop_the_others(arena, monkeypatch, capsys):
    visitors = [Visitor(arena.server.get_port()) for _ in range(2)]
    for visitor in visitors:
        visitor.enter()
    wait(lambda: len(arena.sessions) == 2)
    broken, sound = arena.sessions.values()

    def fail() -> None:
        raise RuntimeError("a fault of one game")

    monkeypatch.setattr(broken, "tick", fail)
    wait(lambda: len(arena.sessions) == 1)
    assert arena.faults == 3
    told = "blindsave: a game failed (RuntimeError: a fault of one game); the others go on"
    assert capsys.readouterr().err.count(told) == 1
    sound.say("twin_left")
    wait(lambda: sound.game.finished)
    for visitor in visitors:
        visitor.close()
    wait(lambda: not arena.sessions)


def memory_mb() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    raise AssertionError


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="memory is read from /proc")
def test_thousands_of_hostile_messages_change_nothing_for_others(arena, caplog):
    caplog.set_level(logging.WARNING)
    witness = Visitor(arena.server.get_port())
    witness.enter()
    wait(lambda: arena.sessions)
    session = the_session(arena)
    sent, sizes = 0, []
    for wave in range(3):
        command = [sys.executable, str(ATTACK), str(arena.server.get_port()), str(wave), str(HOSTILE // 3)]
        attacker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        witness.press(LEFT_POST)
        sent += int(attacker.communicate()[0])
        wait(lambda: len(arena.sessions) == 1)
        gc.collect()
        sizes.append(memory_mb())
    assert sent >= HOSTILE
    assert arena.sessions and the_session(arena) is session
    assert len(arena.server._websock_server._client_state_from_id) == 1
    assert arena.server._share_tunnel is None
    before = session.game.take
    witness.press(RIGHT_POST)
    wait(lambda: session.game.take is not before and session.game.finished)
    assert np.isfinite(session.game.take.tables[0].frames[-1].qpos).all()
    assert sizes[-1] - sizes[0] < 40, sizes
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
    witness.close()
    wait(lambda: not arena.sessions)
