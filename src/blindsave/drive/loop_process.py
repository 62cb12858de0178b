"""The compiled loop as a process: started, waited for, and what it says at its end."""

import json
import re
import signal
import subprocess
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from blindsave.errors import BadInput


@dataclass(frozen=True)
class DriveOptions:
    """How the loop listens and what it tolerates; the names are those of the program's options."""

    bind: str = "127.0.0.1"
    port: int = 0
    """0 takes any that is free."""
    period_us: int = 20_000
    patience_us: int = 30_000
    """How long after a packet the next one is missed; then the loop ticks by itself every period."""
    ticks: int = 0
    """Ticks after which the loop ends; 0 is never."""
    deadline_us: int = 20_000
    blind_ticks: int = 25
    stop_ticks: int = 50
    recover_packets: int = 3
    slip_packets: int = 3
    stale_us: int = 40_000
    max_step: float = 2.0
    low: float = -1.0
    high: float = 1.0
    log: Path | None = None

    @classmethod
    def at_rate(cls, rate_hz: float, **others: Any) -> "DriveOptions":
        """Times that suit a rate: a packet is missed after one and a half periods, stale after two."""
        period = max(1, round(1e6 / rate_hz))
        times: dict[str, Any] = {
            "period_us": period,
            "patience_us": period * 3 // 2,
            "deadline_us": period,
            "stale_us": 2 * period,
        }
        return cls(**(times | others))

    @classmethod
    def in_step(cls, patience_s: float = 10.0, **others: Any) -> "DriveOptions":
        """For a robot that waits for every answer: as fast as both can, and no packet is ever stale."""
        times: dict[str, Any] = {
            "period_us": round(1e6 * patience_s),
            "patience_us": round(1e6 * patience_s),
            "stale_us": 0,
        }
        return cls(**(times | others))

    def words(self) -> list[str]:
        """The options as the program reads them."""
        found = []
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None:
                found += [f"--{field.name.replace('_', '-')}", repr(value) if isinstance(value, float) else str(value)]
        return found


class DriveProcess:
    """A running loop; use it as a context, or `stop` it."""

    def __init__(self, program: Path, options: DriveOptions) -> None:
        pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen([str(program), *options.words()], **pipes)
        assert self.process.stderr is not None
        said = self.process.stderr.readline()
        listening = re.fullmatch(r"listening on (\S+):(\d+)\n", said)
        if listening is None:
            rest = self.process.communicate()[1]
            raise BadInput(f"the loop did not start: {(said + rest).strip() or 'no reason was given'}")
        self.address = (listening[1], int(listening[2]))

    def __enter__(self) -> "DriveProcess":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def stop(self) -> dict[str, Any]:
        """Ask the loop to end: it tells the robot to stop, writes its log and says what happened."""
        self.process.send_signal(signal.SIGTERM)
        return self.wait()

    def wait(self, timeout_s: float | None = None) -> dict[str, Any]:
        """Wait until the loop ends by itself."""
        out, err = self.process.communicate(timeout=timeout_s)
        if self.process.returncode:
            raise BadInput(f"the loop failed: {err.strip() or self.process.returncode}")
        return json.loads(out)


def replay(program: Path, log: Path) -> dict[str, Any]:
    """Make every call of a log again; `equal` says whether every command came out with the same bits."""
    done = subprocess.run([str(program), "--replay", str(log)], capture_output=True, text=True)
    if done.returncode == 1:
        return {"equal": False, "message": done.stderr.strip()}
    if done.returncode:
        raise BadInput(done.stderr.strip() or f"the loop could not replay {log}")
    return {"equal": True, **json.loads(done.stdout)}
