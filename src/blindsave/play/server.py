"""The arena as a server: visitors come and go, each with a game of their own; one clock keeps the time for all."""

import contextlib
import io
import ipaddress
import logging
import sys
import threading
import time
import warnings
from typing import Any

import viser

from blindsave.arena.constants import CONTROL_DT_S
from blindsave.errors import BadInput
from blindsave.play import guard, shapes
from blindsave.play.roster import Roster
from blindsave.play.session import ALONE, Session

LOG = logging.getLogger("blindsave")
MOST_FAULTS = 3  # of one session, before it is closed
FALLEN_BEHIND = 5  # ticks after which the clock gives up catching up
FLOOR_Z_M = -0.78
FLOOR, NIGHT = (33, 37, 44), (18, 21, 27)


class Arena:
    """The server; use it as a context. `sessions` are the games of the open pages."""

    def __init__(self, host: str = "127.0.0.1", port: int = 8080, most_visitors: int = 16, plain: bool = False) -> None:
        self.host, self.most_visitors, self.plain = host, most_visitors, plain
        self.loopback = is_loopback(host)
        self.roster = Roster()
        shapes.parts()  # once, before anybody waits for it
        self.sessions: dict[int, Session] = {}
        self.visitors_served = self.ticks = self.late_ticks = self.faults = 0
        self._shots = 0
        self._said: set[str] = set()
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self.loop_errors = guard.QuietLoop()
        self.server = self._open(port)
        self._clock = threading.Thread(target=self._run, name="blindsave-clock", daemon=True)

    def _open(self, port: int) -> viser.ViserServer:
        for name in ("websockets.server", "websockets"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        # What viser warns of here is what visitors do: odd messages, and leaving while their page is being made.
        warnings.filterwarnings("ignore", r"\[viser\]|Queued a .* on a closed connection")
        with contextlib.redirect_stdout(io.StringIO()):  # viser draws a box with addresses; `announce` says it better
            server = viser.ViserServer(self.host, port, label="blindsave", verbose=False)
        bound = server.get_port()
        if port and bound != port:
            server.stop()
            raise BadInput(f"port {port} of {self.host} is taken or cannot be used; choose another with --port")
        guard.close_shared_door(server)
        server._websock_server.on_client_connect(self._knock)
        server._event_loop.call_soon_threadsafe(server._event_loop.set_exception_handler, self.loop_errors)
        server.gui.configure_theme(dark_mode=True, show_logo=False, show_share_button=False, brand_color=(59, 130, 246))
        server.gui.main_panel.dock_right()
        scene = server.scene
        scene.world_axes.visible = False
        floor = shapes.cylinder(14.0, 0.01)
        scene.add_mesh_simple(
            "/floor", floor.vertices.astype("f4"), floor.faces.astype("u4"), color=FLOOR,
            position=(-0.3, 0.0, FLOOR_Z_M - 0.01), cast_shadow=False,
        )  # fmt: skip
        self._light(scene)
        scene.configure_fog(5.0, 10.0, color=NIGHT)
        server.initial_camera.position, server.initial_camera.look_at = ALONE
        server.initial_camera.fov = 0.75
        server.on_client_connect(self._arrive)
        server.on_client_disconnect(self._leave)
        return server

    def _light(self, scene: Any) -> None:
        """Light the hall; plainly, without shadows and reflections, for machines that draw without a GPU."""
        scene.configure_default_lights(enabled=False)
        scene.configure_environment_map(None if self.plain else "studio", environment_intensity=0.3)
        key, fill = (1.8, 1.2) if self.plain else (1.1, 0.3)
        scene.add_light_directional(
            "/key", intensity=key, position=(1.2, -1.5, 4.0), color=(255, 250, 240), cast_shadow=not self.plain
        )
        scene.add_light_ambient("/fill", intensity=fill)

    async def _knock(self, connection: Any) -> None:
        """Meet a connection before it may say anything."""
        network = self.server._websock_server
        websocket = network._live_connections[connection.client_id]
        guard.limit(websocket)
        guard.narrow(connection)
        request = websocket.request
        if request is None or not guard.same_site(request.headers):
            await websocket.close(1008, "pages of other sites may not play here")
        elif len(network._live_connections) > self.most_visitors:
            await websocket.close(1013, "the arena is full; try again later")

    def _arrive(self, client: Any) -> None:
        """Make a game for a new page; viser calls this in a thread of its own."""
        try:
            session = Session(client, self.roster)
        except Exception as error:
            LOG.debug("a visitor's page could not be made: %s", error)
            return
        with self._lock:
            # Who left while the page was being made is no longer listed; who leaves from now on waits for the lock.
            if client.client_id not in self.server.get_clients():
                return
            self.sessions[client.client_id] = session
            self.visitors_served += 1

    async def _leave(self, client: Any) -> None:
        """Free the game of a closed page."""
        with self._lock:
            session = self.sessions.pop(client.client_id, None)
            self._shots += _shots(session) if session else 0

    def _run(self) -> None:
        """Tick every game fifty times a second; late ticks are caught up, long stalls are forgotten."""
        due = time.monotonic()
        while not self._stop.is_set():
            due += CONTROL_DT_S
            ahead = due - time.monotonic()
            if ahead > 0:
                time.sleep(ahead)
            elif ahead < -FALLEN_BEHIND * CONTROL_DT_S:
                self.late_ticks += int(-ahead / CONTROL_DT_S)
                due = time.monotonic()
            self._tick_all()
            self.ticks += 1

    def _tick_all(self) -> None:
        with self._lock:
            present = list(self.sessions.items())
        for number, session in present:
            self._tick(number, session)

    def _tick(self, number: int, session: Session) -> None:
        try:
            session.tick()
        except Exception as error:
            # One game's fault is its own: it is closed after a few, the others go on.
            self.faults += 1
            session.faults += 1
            if number in self.sessions:  # a page that was closed just now is nothing to speak of
                self._complain(f"{type(error).__name__}: {error}")
            if session.faults >= MOST_FAULTS:
                with self._lock:
                    self.sessions.pop(number, None)

    def _complain(self, fault: str) -> None:
        """Say a fault on standard error, once however often it happens."""
        if fault not in self._said:
            self._said.add(fault)
            print(f"blindsave: a game failed ({fault}); the others go on", file=sys.stderr, flush=True)
            LOG.debug("a game failed", exc_info=True)

    @property
    def address(self) -> str:
        """Where the page is."""
        host = "localhost" if self.host in ("127.0.0.1", "::1", "0.0.0.0", "::") else self.host
        return f"http://{host}:{self.server.get_port()}"

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
        """Stay open for some time, or until interrupted."""
        end = None if seconds is None else time.monotonic() + seconds
        while not self._stop.is_set() and (end is None or time.monotonic() < end):
            time.sleep(0.1 if end is None else min(0.1, max(0.0, end - time.monotonic())))

    def figures(self) -> dict[str, int]:
        """Counts since the start."""
        with self._lock:
            shots = self._shots + sum(_shots(session) for session in self.sessions.values())
            return {
                "visitors_served": self.visitors_served,
                "games": len(self.sessions),
                "shots": shots,
                "ticks": self.ticks,
                "late_ticks": self.late_ticks,
                "faults": self.faults,
            }

    def __enter__(self) -> "Arena":
        self._clock.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._clock.join(2.0)
        with contextlib.redirect_stdout(io.StringIO()):
            self.server.stop()


def _shots(session: Session) -> int:
    return sum(score.shots for score in session.game.scores.values())


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
