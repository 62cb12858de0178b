"""Just enough of the DevTools protocol to open a page in headless Chromium, look at it and listen to its console."""

import base64
import json
import os
import secrets
import shutil
import socket
import struct
import subprocess
import time
import urllib.request
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-port=0",
)
PATIENCE_S = 60.0


def browser() -> str | None:
    """The path of an installed Chromium, if any."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """A headless browser with one page; use it as a context."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.events: list[dict[str, Any]] = []
        self.count = 0

    def __enter__(self) -> "Browser":
        path = browser()
        assert path is not None
        command = [path, *FLAGS, f"--user-data-dir={self.folder}", "about:blank"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            port = self._port()
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=PATIENCE_S) as answer:
                targets = json.load(answer)
            page = next(target for target in targets if target["type"] == "page")
            self._connect(port, page["webSocketDebuggerUrl"].partition(str(port))[2])
            for domain in ("Page", "Runtime", "Log"):
                self.send(f"{domain}.enable")
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()
        self._stop()

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method and wait for its answer; events that come in between are kept."""
        self.count += 1
        self._write(json.dumps({"id": self.count, "method": method, "params": parameters}).encode())
        while True:
            message = json.loads(self._read())
            if message.get("id") == self.count:
                assert "error" not in message, message
                return message["result"]
            self.events.append(message)

    def open(self, path: Path, width: int = 1200, dark: bool = False, fragment: str = "") -> None:
        """Show a local page at a width and in a colour scheme, and wait until it is complete."""
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.send("Emulation.setEmulatedMedia", media="", features=scheme)
        self.send("Page.navigate", url=path.resolve().as_uri() + fragment)
        self.wait("document.readyState === 'complete' && location.protocol === 'file:'")

    def value(self, expression: str) -> Any:
        """The value of an expression in the page."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, expression: str) -> None:
        """Wait until an expression is true; give up after a long time."""
        give_up = time.monotonic() + PATIENCE_S
        while not self.value(expression):
            assert time.monotonic() < give_up, f"never true: {expression}"
            time.sleep(0.05)

    def complaints(self) -> list[str]:
        """Everything the page reported: exceptions, console errors and warnings, failed or foreign requests."""
        kinds = {"Runtime.exceptionThrown", "Log.entryAdded"}
        found = [json.dumps(event["params"]) for event in self.events if event["method"] in kinds]
        calls = (event["params"] for event in self.events if event["method"] == "Runtime.consoleAPICalled")
        return found + [json.dumps(call) for call in calls if call["type"] in ("error", "warning", "assert")]

    def screenshot(self, path: Path) -> None:
        """What can be seen now, as PNG."""
        path.write_bytes(base64.b64decode(self.send("Page.captureScreenshot")["data"]))

    def _port(self) -> int:
        note = self.folder / "DevToolsActivePort"
        give_up = time.monotonic() + PATIENCE_S
        while time.monotonic() < give_up:
            if note.is_file() and "\n" in (text := note.read_text()):
                return int(text.partition("\n")[0])
            assert self.process.poll() is None, "the browser ended at once"
            time.sleep(0.05)
        raise AssertionError("the browser never opened its port")

    def _connect(self, port: int, resource: str) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
        key = base64.b64encode(os.urandom(16)).decode()
        lines = (f"GET {resource} HTTP/1.1", f"Host: 127.0.0.1:{port}", "Upgrade: websocket", "Connection: Upgrade")
        lines += (f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", "", "")
        self.socket.sendall("\r\n".join(lines).encode())
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += self.socket.recv(1)
        assert b" 101 " in answer.partition(b"\r\n")[0], answer

    def _write(self, payload: bytes) -> None:
        mask, n = secrets.token_bytes(4), len(payload)
        size = (
            bytes([0x80 | n])
            if n < 126
            else b"\xfe" + struct.pack(">H", n)
            if n < 65536
            else b"\xff" + struct.pack(">Q", n)
        )
        self.socket.sendall(b"\x81" + size + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload)))

    def _read(self) -> bytes:
        whole = b""
        while True:
            first, second = self._exactly(2)
            n = second & 0x7F
            if n >= 126:
                n = int.from_bytes(self._exactly(2 if n == 126 else 8), "big")
            payload = self._exactly(n)
            if first & 0x0F in (0, 1, 2):
                whole += payload
                if first & 0x80:
                    return whole

    def _exactly(self, n: int) -> bytes:
        data = b""
        while len(data) < n:
            part = self.socket.recv(n - len(data))
            assert part, "the browser hung up"
            data += part
        return data

    def _stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
