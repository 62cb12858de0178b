"""The arena as a server: hands out the page, and plays the shots that pages ask for.

Python's own HTTP server is enough: nothing is kept of a visitor, and a shot is one short request. Requests are small,
answered in time or dropped, and played one after the other, so that no visitor can take more than one core.
"""

import contextlib
import errno
import functools
import gzip
import json
import logging
import socket
import sys
import threading
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any

from blindsave.draw.canvas import BAD, BELIEVED, GOOD, HIDDEN, SEEN, WANTED
from blindsave.errors import BadInput, BlindsaveError
from blindsave.play import aim, guard, scene
from blindsave.play.faults import faults
from blindsave.play.roster import Roster, words
from blindsave.play.take import DIAL, FIRST_PAIR, FIRST_SHOT, HIDDEN_STEPS, MOST_HIDDEN, families, take
from blindsave.task.shots import ALIAS_TARGETS, GOAL_PLANE_X_M

LOG = logging.getLogger("blindsave")
MOST_BYTES = 4096
"""Of a request; a page's own have a few hundred."""
PATIENCE_S = 10.0
"""How long a connection may say nothing."""
PER_VISITOR = 6
"""Connections that a browser opens to one host."""
STEP_MS = 20
COLOURS = {"seen": SEEN, "hidden": HIDDEN, "believed": BELIEVED, "wanted": WANTED, "saved": GOOD, "lost": BAD}
TYPES = {"html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


class Arena:
    """The server; use it as a context."""

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = 8080,
        most_visitors: int = 16,
        plain: bool = False,
        named: tuple[str, ...] = (),
        conditions: tuple[str, ...] = (),
    ) -> None:
        self.host, self.plain = host, plain
        self.most_connections = PER_VISITOR * most_visitors
        self.loopback, self.everywhere = guard.is_loopback(host), host in guard.EVERYWHERE
        self.names = guard.own_names(host)
        self.roster, self.stops = Roster(named), faults(conditions)
        self.first_stop = len(self.stops) - len(set(conditions)) if conditions else 0
        self.visitors_served = self.shots = self.refused = self.faults = 0
        self._said: set[str] = set()
        self._counting, self._playing = threading.Lock(), threading.Lock()
        self._stop = threading.Event()
        self._server = _listen(self, port)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True)
        scene.packed()  # once, before anybody waits for it

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.server_address[1])

    @property
    def address(self) -> str:
        """Where the page is."""
        host = {"127.0.0.1": "localhost", "0.0.0.0": "localhost", "": "localhost", "::": "::1"}.get(
            self.host, self.host
        )
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"

    def page(self) -> bytes:
        """The page with all it must know, its first shot included: that one flies as soon as it is drawn."""
        pair = list(self.roster.pair)
        first = {"shot": FIRST_SHOT, "goalkeepers": pair, "hidden": HIDDEN_STEPS}
        first["fault"] = self.first_stop
        setup = {
            "goalkeepers": [words(key) for key in self.roster.keys],
            "pair": pair,
            "twins": [[f"{family}:{target}" for target in ALIAS_TARGETS] for family in families()],
            "first_twins": families().index(FIRST_PAIR),
            "faults": [fault.label for fault in self.stops],
            "first_fault": self.first_stop,
            "holds": DIAL,
            "hidden": HIDDEN_STEPS,
            "most_hidden": min(MOST_HIDDEN, 50),
            "step_ms": STEP_MS,
            "colours": {name: [round(255 * part) for part in colour] for name, colour in COLOURS.items()},
            "plain": self.plain,
            "aim": {
                "slowest": aim.SLOWEST, "fastest": aim.FASTEST, "speed_per_m": aim.SPEED_PER_M, "near": aim.NEAREST_X_M,
                "reach_x": aim.REACH_X_M, "reach_y": aim.REACH_Y_M, "mouth": aim.MOUTH_Y_M, "goal_x": GOAL_PLANE_X_M,
            },
            "take": self.play(first),
        }  # fmt: skip
        # Inside a script element only this could end it early.
        text = json.dumps(setup, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
        self._count("visitors_served")
        return _file("play.html").replace(b"{{setup}}", text.encode())

    def play(self, wish: Any) -> dict[str, Any]:
        """Play a shot, when those before it are done."""
        if not isinstance(wish, dict):
            raise BadInput("a wish is a JSON object")
        with self._playing:
            return take(self.roster, self.stops, wish)

    def wished(self, body: bytes) -> tuple[HTTPStatus, dict[str, Any]]:
        """Answer a page's wish: a whole take, or one sentence."""
        try:
            answer = self.play(json.loads(body))
            self._count("shots")
            return HTTPStatus.OK, answer
        except (BlindsaveError, ValueError, RecursionError) as error:
            self._count("refused")
            known = isinstance(error, BlindsaveError)
            return HTTPStatus.BAD_REQUEST, {"error": str(error)[:300] if known else "that cannot be played"}
        except Exception as error:
            # A fault is told to the visitor who met it and to whoever opened the arena; the others play on.
            self._count("faults")
            self._complain(f"{type(error).__name__}: {error}")
            return HTTPStatus.INTERNAL_SERVER_ERROR, {"error": "this shot failed; others may be played"}

    def _count(self, name: str) -> None:
        with self._counting:
            setattr(self, name, getattr(self, name) + 1)

    def _complain(self, fault: str) -> None:
        """Say a fault on standard error, once however often it happens."""
        if fault not in self._said:
            self._said.add(fault)
            print(f"blindsave: a shot failed ({fault}); others are played", file=sys.stderr, flush=True)
            LOG.debug("a shot failed", exc_info=True)

    def announce(self) -> None:
        """Say where the page is and who can reach it."""
        print(f"blindsave: the arena is open at {self.address} (Ctrl+C closes it)", file=sys.stderr)
        if self.loopback:
            print("blindsave: only this machine can reach it", file=sys.stderr)
        else:
            print(
                f"blindsave: warning: listening on {self.host}, so any machine that reaches this one can play; there is"
                " no password and no encryption",
                file=sys.stderr,
            )

    def wait(self, seconds: float | None = None) -> None:
        """Stay open for some time, or until told to stop."""
        end = None if seconds is None else time.monotonic() + seconds
        while not self._stop.is_set() and (end is None or time.monotonic() < end):
            self._stop.wait(0.1 if end is None else min(0.1, max(0.0, end - time.monotonic())))

    def stop(self) -> None:
        """End `wait`."""
        self._stop.set()

    def figures(self) -> dict[str, int]:
        """Counts since the start."""
        with self._counting:
            return {name: getattr(self, name) for name in ("visitors_served", "shots", "refused", "faults")}

    def __enter__(self) -> "Arena":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(2.0)


@functools.cache
def _file(name: str) -> bytes:
    return (files("blindsave.play") / "page" / name).read_bytes()


class _Server(ThreadingHTTPServer):
    """Threads that never hold the program up, and no more connections than there are visitors for."""

    daemon_threads = True
    request_queue_size = 64
    arena: Arena

    def __init__(self, *args: Any) -> None:
        self._open = 0
        self._counting = threading.Lock()
        super().__init__(*args)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Give a connection a thread of its own, or send it away where there are too many."""
        with self._counting:
            full = self._open >= self.arena.most_connections
            self._open += not full
        if not full:
            super().process_request(request, client_address)
            return
        said = b"the arena is full; try again later"
        with contextlib.suppress(OSError):
            head = f"HTTP/1.1 503 Full\r\nContent-Length: {len(said)}\r\nConnection: close\r\n\r\n"
            request.sendall(head.encode() + said)
        self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve one connection to its end."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._counting:
                self._open -= 1

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A visitor who vanishes or talks nonsense is nothing to speak of."""
        LOG.debug("a connection ended early", exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: _Server  # pyright: ignore[reportIncompatibleVariableOverride]
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "blindsave", ""
    timeout = PATIENCE_S

    def do_GET(self) -> None:
        """Hand out the page and its files."""
        path = self.path.partition("?")[0]
        if not self._is_ours():
            return
        if path == "/":
            self._send(HTTPStatus.OK, TYPES["html"], self.server.arena.page())
        elif path == "/scene":
            self._send(HTTPStatus.OK, "application/octet-stream", scene.packed(), zipped=True)
        elif path in ("/play.css", "/play.js", "/table.js"):
            self._send(HTTPStatus.OK, TYPES[path.rpartition(".")[2]], _file(path[1:]))
        else:
            self._say(HTTPStatus.NOT_FOUND, "there is nothing here; the arena is at /")

    def do_POST(self) -> None:
        """Play a shot."""
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit() and int(length[:9]) <= MOST_BYTES):
            self.close_connection = True  # what comes now is not going to be read
            self._say(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a wish has at most {MOST_BYTES} bytes")
            return
        body = self.rfile.read(int(length))
        if not self._is_ours():
            return
        if not guard.is_own_page(self.headers.get("Origin"), self.headers.get("Host")):
            self._say(HTTPStatus.FORBIDDEN, "pages of other sites may not play here")
        elif self.path != "/take" or self.headers.get_content_type() != "application/json":
            self._say(HTTPStatus.NOT_FOUND, "wishes are JSON and go to /take")
        else:
            status, answer = self.server.arena.wished(body)
            data = json.dumps(answer, separators=(",", ":"), allow_nan=False).encode()
            self._send(status, "application/json", gzip.compress(data, 1), zipped=True)

    def _is_ours(self) -> bool:
        arena, hosts = self.server.arena, self.headers.get_all("Host") or []
        if len(hosts) == 1 and guard.is_own_host(hosts[0], arena.names, arena.everywhere):
            return True
        self._say(HTTPStatus.MISDIRECTED_REQUEST, "this arena does not go by that name")
        return False

    def _say(self, status: HTTPStatus, sentence: str) -> None:
        self._send(status, "application/json", json.dumps({"error": sentence}).encode())

    def _send(self, status: HTTPStatus, kind: str, data: bytes, zipped: bool = False) -> None:
        self.send_response(status)
        for name, value in {**HEADERS, "Content-Type": kind, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        if zipped:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is said on standard error about single requests."""
        LOG.debug(format, *args)


def _listen(arena: Arena, port: int) -> _Server:
    """Bind the address, or say in one sentence why not."""
    try:
        (family, _, _, _, place), *_ = socket.getaddrinfo(
            arena.host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        kind = type("_ServerHere", (_Server,), {"address_family": family, "arena": arena})
        return kind(place[:2], _Handler)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise BadInput(f"port {port} of {arena.host} is taken; choose another with --port") from error
        raise BadInput(f"cannot listen on {arena.host}, port {port}: {error.strerror or error}") from error
    except UnicodeError as error:
        raise BadInput(f"{arena.host!r} is no host name") from error
