"""A visitor without a browser: speaks viser's protocol over a plain websocket, politely or not."""

import contextlib
import socket
import threading
import time
from typing import Any

import msgspec.msgpack
import viser
import zstandard
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

PATIENCE_S = 60.0
CAMERA = {
    "type": "ViewerCameraMessage", "wxyz": [1.0, 0.0, 0.0, 0.0], "position": [2.0, 0.0, 2.0], "fov": 0.75,
    "near": 0.01, "far": 100.0, "image_height": 600, "image_width": 800, "look_at": [0.0, 0.0, 0.0],
    "up_direction": [0.0, 0.0, 1.0],
}  # fmt: skip


class Visitor:
    """One connection; a thread reads what the server sends and remembers controls by label."""

    def __init__(self, port: int, **options: Any) -> None:
        self.socket = connect(
            f"ws://127.0.0.1:{port}", subprotocols=[f"viser-v{viser.__version__}"], max_size=None, compression=None,
            close_timeout=1, **options,
        )  # fmt: skip
        self.controls: dict[str, str] = {}
        self.pieces: dict[str, str] = {}
        self.messages = 0
        self.moved = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def enter(self) -> None:
        """Say where the camera is, as a page does first, and wait for the controls."""
        self.send(CAMERA)
        wait(lambda: "Launch this shot" in self.controls)

    def send(self, message: Any) -> None:
        """Send a message of the protocol."""
        self.socket.send(msgspec.msgpack.encode(message))

    def set(self, label: str, value: Any) -> None:
        """Set a control, or press a button."""
        self.send({"type": "GuiUpdateMessage", "uuid": self.controls[label], "updates": {"value": value}})

    def press(self, label: str) -> None:
        """Press a button."""
        self.set(label, True)

    def close(self) -> None:
        """Leave as a closed tab does."""
        self.socket.close()
        self._reader.join(PATIENCE_S)

    def vanish(self) -> None:
        """Leave without a word, as a pulled plug does."""
        with contextlib.suppress(OSError):  # the server may have been quicker
            self.socket.socket.shutdown(socket.SHUT_RDWR)
        self.socket.socket.close()

    def _read(self) -> None:
        try:
            while True:
                self._take(self.socket.recv())
        except (ConnectionClosed, OSError):
            return

    def _take(self, raw: Any) -> None:
        size = int.from_bytes(raw[8:16], "little")
        whole = msgspec.msgpack.decode(zstandard.ZstdDecompressor().decompress(raw[16 : 16 + size]))
        for message in whole["messages"]:
            self.messages += 1
            self.moved += message["type"] == "SetOrientationMessage"
            props = message.get("props")
            if message["type"].startswith("Gui") and isinstance(props, dict) and props.get("label"):
                self.controls[props["label"]] = message["uuid"]
            if message["type"] == "GuiUpdateMessage" and "content" in message.get("updates", {}):
                self.pieces[message["uuid"]] = message["updates"]["content"]


def wait(ready: Any) -> None:
    """Wait until something is true; give up after a long time."""
    give_up = time.monotonic() + PATIENCE_S
    while not ready():
        assert time.monotonic() < give_up, "never happened"
        time.sleep(0.02)
