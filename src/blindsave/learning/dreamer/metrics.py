"""What a run tells about itself: recent episodes, averaged training figures, one JSON line per interval."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from blindsave.errors import BadFile
from blindsave.learning.dreamer.stream import Finished, Seen
from blindsave.store import write_whole

RECENT_EPISODES = 500


class Episodes:
    """Returns, lengths and the environment's own figures over the most recent episodes."""

    def __init__(self, n: int) -> None:
        self.count = 0
        self._return = np.zeros(n)
        self._length = np.zeros(n, np.int64)
        self._recent: deque[tuple[float, int, Finished]] = deque(maxlen=RECENT_EPISODES)

    def add(self, seen: Seen, finished: list[Finished]) -> None:
        """Account for one time step; `finished` lists the episodes that ended in it, in order of environment."""
        self._return = np.where(seen.first, 0.0, self._return + seen.reward)
        self._length = np.where(seen.first, 0, self._length + 1)
        for place, episode in zip(np.flatnonzero(seen.last), finished, strict=True):
            self.count += 1
            self._recent.append((float(self._return[place]), int(self._length[place]), episode))

    def summary(self) -> dict[str, Any]:
        """Return means over the recent episodes, the environment's figures also by group."""
        if not self._recent:
            return {"episodes": self.count}
        out: dict[str, Any] = {
            "episodes": self.count,
            "return": float(np.mean([e[0] for e in self._recent])),
            "length": float(np.mean([e[1] for e in self._recent])),
        }
        for name in self._recent[-1][2].figures:
            out[name] = float(np.mean([e[2].figures[name] for e in self._recent]))
            groups = sorted({e[2].group for e in self._recent}, key=lambda g: (len(g), g))
            if groups != [""]:
                out[f"{name}_by_group"] = {
                    g: float(np.mean([e[2].figures[name] for e in self._recent if e[2].group == g])) for g in groups
                }
        return out


class MetricsFile:
    """`metrics.jsonl`: lines are appended as they come; a resumed run first drops lines from after its state."""

    def __init__(self, path: Path, resumed_at: int) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = [line for line in read(path) if line["step"] <= resumed_at] if path.exists() else []
        write_whole(path, "".join(json.dumps(line) + "\n" for line in kept))

    def add(self, line: Mapping[str, Any]) -> None:
        """Append one line."""
        with self.path.open("a") as file:
            file.write(json.dumps(line, allow_nan=False) + "\n")


def read(path: Path) -> list[dict[str, Any]]:
    """Read a metrics file; a half-written last line (a killed run) is left out, and so is whatever cannot be text."""
    try:
        texts = Path(path).read_text(errors="replace").splitlines()
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror or error}") from error
    lines = []
    for text in texts:
        try:
            lines.append(json.loads(text))
        except ValueError:
            break
    return lines


def remark(line: Mapping[str, Any]) -> str:
    """The newest figures in a few words, for a progress bar."""
    parts = [f"{line['steps_per_s']:.0f} steps/s", f"{line['updates_per_s']:.1f} updates/s"]
    return "  ".join(parts + [f"{name} {line[name]:.3f}" for name in ("loss", "return", "saved") if name in line])
