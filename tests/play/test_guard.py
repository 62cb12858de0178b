import pytest

from blindsave.play import guard


@pytest.mark.parametrize(
    ("host", "only_us"), [("127.0.0.1", True), ("localhost", True), ("::1", True), ("0.0.0.0", False), ("a.b", False)]
)
def test_loopback_is_known(host, only_us):
    assert guard.is_loopback(host) is only_us


@pytest.mark.parametrize(
    ("listening", "asked", "ours"),
    [
        ("127.0.0.1", "localhost:8080", True),
        ("127.0.0.1", "LOCALHOST:8080", True),
        ("127.0.0.1", "127.0.0.1", True),
        ("127.0.0.1", "[::1]:8080", True),
        ("127.0.0.1", "localhost.:8080", True),
        ("127.0.0.1", "evil.example:8080", False),
        ("127.0.0.1", "localhost.evil.example", False),
        ("127.0.0.1", "localhost@evil.example", False),
        ("127.0.0.1", "evil.example@localhost", False),
        ("127.0.0.1", "10.1.2.3:8080", False),
        ("127.0.0.1", "[oops", False),
        ("127.0.0.1", "", False),
        ("127.0.0.1", None, False),
        ("10.1.2.3", "10.1.2.3:8080", True),
        ("10.1.2.3", "10.1.2.4:8080", False),
        ("0.0.0.0", "192.168.1.7:8080", True),
        ("0.0.0.0", "[fe80::1]:8080", True),
        ("0.0.0.0", "evil.example", False),
        ("arena.example", "arena.example", True),
    ],
)
def test_only_names_that_are_ours_are_answered(listening, asked, ours):
    everywhere = listening in guard.EVERYWHERE
    assert guard.is_own_host(asked, guard.own_names(listening), everywhere) is ours


@pytest.mark.parametrize(
    ("host", "origin", "same"),
    [
        ("localhost:8080", None, True),
        ("localhost:8080", "http://localhost:8080", True),
        ("localhost:8080", "https://elsewhere.example", False),
        ("localhost:8080", "http://localhost:9090", False),
        ("localhost:8080", "null", False),
    ],
)
def test_only_our_own_page_may_play(host, origin, same):
    assert guard.is_own_page(origin, host) is same
