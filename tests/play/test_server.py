"""The arena under visitors: careless and hostile ones, too many, and those who vanish."""

import gzip
import http.client
import json
import random
import socket
import threading
import urllib.request
from collections.abc import Iterator

import pytest

from blindsave.errors import BadInput
from blindsave.play import server as servers
from blindsave.play.server import Arena
from blindsave.task.shots import ALIAS_TARGETS

HOSTILE = 2000
HEAD = b"POST /take HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
WISH = {
    "shot": f"validation:alias:038:{ALIAS_TARGETS[0]}",
    "goalkeepers": ["privileged", "inactive"],
    "hidden": 20,
    "fault": 0,
}


@pytest.fixture(scope="module")
def arena() -> Iterator[Arena]:
    with Arena(port=0, most_visitors=4) as open_arena:
        yield open_arena


def ask(arena: Arena, method: str, path: str, body: bytes | None = None, **headers: str):
    line = http.client.HTTPConnection("127.0.0.1", arena.port, timeout=20)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    line.request(method, path, body, sent)
    answer = line.getresponse()
    data = answer.read()
    line.close()
    return answer, gzip.decompress(data) if answer.headers.get("Content-Encoding") == "gzip" else data


def wish(arena: Arena, body, **headers: str):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    answer, found = ask(arena, "POST", "/take", data, **{"Content_Type": "application/json", **headers})
    return answer.status, json.loads(found)


def setup_of(page: bytes) -> dict:
    return json.loads(page.partition(b'id="setup">')[2].partition(b"</script>")[0])


def test_the_page_has_its_title_its_tables_named_and_its_first_shot(arena):
    answer, page = ask(arena, "GET", "/")
    assert answer.status == 200 and b"<title>blindsave" in page
    setup = setup_of(page)
    tables = setup["take"]["tables"]
    assert [table["plain"] for table in tables] == ["linear memory", "no memory"]
    assert [table["key"] for table in tables] == setup["pair"] == list(arena.roster.pair)
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    for path in ("/play.css", "/play.js", "/table.js", "/scene"):
        found, data = ask(arena, "GET", path)
        assert found.status == 200 and len(data) > 1000
    assert ask(arena, "GET", "/../../etc/passwd")[0].status == 404


def test_nothing_that_a_policy_is_called_ends_the_pages_script(arena, monkeypatch):
    monkeypatch.setattr(arena, "play", lambda wish: {"plain": "</script><script>alert(1)</script>"})
    page = arena.page()
    assert page.count(b"</script>") == 3 and setup_of(page)["take"]["plain"].startswith("</script>")


def test_a_shot_is_played_and_counted(arena):
    before = arena.figures()["shots"]
    status, found = wish(arena, WISH)
    assert status == 200 and [table["verdict"] for table in found["tables"]] == ["save", "goal"]
    assert arena.figures()["shots"] == before + 1


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example:8080"}, 421),
        ({"Host": "evil.example:8080", "Origin": "http://evil.example:8080"}, 421),
        ({"Origin": "https://elsewhere.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Content_Type": "text/plain"}, 404),
    ],
)
def test_other_sites_and_borrowed_names_get_nothing(arena, headers, status):
    before = arena.figures()["shots"]
    assert wish(arena, WISH, **headers)[0] == status
    assert arena.figures()["shots"] == before
    if "Host" in headers:
        assert ask(arena, "GET", "/", **headers)[0].status == 421


@pytest.mark.parametrize(
    "body",
    [b"", b"[", b"null", b"[]", b'"x"', b"{}", b"[" * 4000, b"\xff\xfe", b"1e999", b'{"shot": {}, "goalkeepers": [1]}'],
)
def test_nonsense_gets_one_sentence(arena, body):
    status, found = wish(arena, body)
    assert status == 400 and found["error"] and "\n" not in found["error"]


def test_a_wish_far_too_long_is_not_read(arena):
    assert wish(arena, b"x" * 100_000)[0] == 413
    assert ask(arena, "POST", "/take", b"", Content_Length="-5")[0].status == 413
    assert ask(arena, "POST", "/take", b"", Content_Length="9" * 4000)[0].status == 413


def test_a_fault_is_told_to_whoever_met_it_and_once_to_the_host(arena, monkeypatch, capsys):
    def fail(*_):
        raise RuntimeError("a fault of one shot")

    with monkeypatch.context() as patch:
        patch.setattr(servers, "take", fail)
        assert [wish(arena, WISH)[0] for _ in range(3)] == [500] * 3
    assert capsys.readouterr().err.count("a shot failed (RuntimeError: a fault of one shot)") == 1
    assert wish(arena, WISH)[0] == 200


def test_a_full_arena_sends_the_next_visitor_away_and_has_room_again():
    with Arena(port=0, most_visitors=1) as arena:
        lines = [socket.create_connection(("127.0.0.1", arena.port)) for _ in range(servers.PER_VISITOR)]
        while arena._server._open < servers.PER_VISITOR:
            threading.Event().wait(0.01)
        assert ask(arena, "GET", "/")[0].status == 503
        for line in lines:
            line.close()
        while arena._server._open:
            threading.Event().wait(0.01)
        assert ask(arena, "GET", "/")[0].status == 200


def test_thousands_of_hostile_bytes_change_nothing_for_others(arena):
    chance = random.Random(3)
    kept, before = json.dumps(WISH).encode(), arena.figures()["faults"]
    for wave in range(HOSTILE // 50):
        line = socket.create_connection(("127.0.0.1", arena.port), timeout=20)
        for _ in range(50):
            data = bytearray(kept)
            for _ in range(chance.randint(1, 8)):
                data[chance.randrange(len(data))] = chance.randrange(256)
            line.sendall(HEAD % len(data) + bytes(data))
        if wave % 2:
            line.close()  # leaves without listening
            continue
        line.shutdown(socket.SHUT_WR)
        while line.recv(1 << 16):
            pass
        line.close()
    assert wish(arena, WISH)[0] == 200 and arena.figures()["faults"] == before


def test_a_taken_port_and_an_address_that_is_not_ours_are_one_sentence(arena):
    with pytest.raises(BadInput, match="is taken"):
        Arena(port=arena.port)
    for host in ("203.0.113.7", "no such host", "x" * 300, "\udc80"):
        with pytest.raises(BadInput, match=r"cannot listen|no host name"):
            Arena(host, port=0)


@pytest.mark.parametrize(
    ("host", "begins"),
    [
        ("127.0.0.1", "http://localhost:"),
        ("0.0.0.0", "http://localhost:"),
        ("::1", "http://[::1]:"),
        ("::", "http://[::1]:"),
    ],
)
def test_the_address_leads_to_the_page(host, begins):
    if ":" in host and not socket.has_ipv6:
        pytest.skip("no IPv6 here")
    try:
        arena = Arena(host, port=0)
    except BadInput:
        pytest.skip(f"nothing can listen on {host} here")
    with arena, urllib.request.urlopen(arena.address, timeout=20) as page:
        assert arena.address.startswith(begins) and page.status == 200


def test_another_address_is_warned_about(arena, capsys, monkeypatch):
    arena.announce()
    assert "only this machine" in capsys.readouterr().err
    monkeypatch.setattr(arena, "loopback", False)
    arena.announce()
    assert "warning" in capsys.readouterr().err
