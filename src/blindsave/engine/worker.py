"""One local worker, as seen from the process that gives it work; its own side is `blindsave.worker`."""

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from typing import Any

PATIENCE_S = 10.0
"""How long a worker that is asked to end may take to put its things away."""
NAP_S = 0.02


class Worker:
    """A process that does one task at a time; what it says goes to an inbox, and an empty message when it has ended."""

    def __init__(self, inbox: "Inbox", gpu: str | None = None, *, all_cores: bool = False) -> None:
        environment = dict(os.environ)
        if gpu is not None:
            environment["CUDA_VISIBLE_DEVICES"] = gpu
        if all_cores:
            environment.pop("NPROC", None)
        # A group of its own: Ctrl-C reaches only the coordinator, which then ends its workers in order.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "blindsave.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            process_group=0,
        )
        self._asked: float | None = None
        self.number: int | None = None
        """Of the task it works on."""
        threading.Thread(target=self._listen, args=(inbox,), daemon=True).start()

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

    def give(self, number: int, request: dict[str, Any]) -> None:
        """Give it a task. If it has died, the inbox will say so."""
        self.number = number
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(request).encode("ascii") + b"\n")
            self._process.stdin.flush()

    def ask_to_end(self) -> None:
        """Begin to end it, without waiting."""
        if self._asked is None:
            self._asked = time.monotonic()
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGTERM)

    def end(self) -> str:
        """End it, patiently at first, and say how it ended."""
        if self._process.poll() is None:
            self.ask_to_end()
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            while self._process.poll() is None and time.monotonic() - (self._asked or 0.0) < PATIENCE_S:
                time.sleep(NAP_S)
        finally:
            if self._process.poll() is None:
                self._process.kill()
            code = self._process.wait()
        return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"

    def _listen(self, inbox: "Inbox") -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                if line.endswith(b"\n"):  # a killed worker's last may be torn
                    inbox.put((self, json.loads(line)))
        inbox.put((self, {}))


Inbox = queue.SimpleQueue[tuple[Worker, dict[str, Any]]]
