"""The live arena, and the probe that shows what a policy remembers."""

import contextlib
import json
import signal
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

from blindsave.cli.shared import Threads, print_table
from blindsave.cli.targets import OutFolder
from blindsave.errors import BadInput


@dataclass(frozen=True)
class Play:
    """Open the live arena: a page where you shoot at a robot that cannot see the puck.

    Two goalkeepers play every shot side by side: by default one with a linear memory and one without any.
    """

    policies: tyro.conf.Positional[tuple[str, ...]] = ()
    """One or two goalkeepers to begin with: `teacher`, FAMILY/SEED, a policy file, or a study's folder."""
    condition: tuple[str, ...] = ()
    """Further things that may go wrong, such as latency_2+noise_5mm (`blindsave conditions` lists them)."""
    host: str = "127.0.0.1"
    """Address to listen on; anything but a loopback address lets other machines in."""
    port: int = 8080
    """Port to listen on; 0 takes any free one."""
    visitors: int = 16
    """Most visitors at a time."""
    plain: bool = False
    """Draw without shadows and fine edges, as is done by itself in browsers without a GPU."""
    browser: bool = True
    """Open the page in the default browser, where there is one."""
    seconds: float | None = None
    """Stop after this time; by default the arena stays open until interrupted."""

    def run(self) -> dict[str, Any]:
        """Serve until told to stop."""
        from blindsave.play.server import Arena

        if not 0 <= self.port <= 65535:
            raise BadInput(f"--port must be between 0 and 65535, got {self.port}")
        if not 1 <= self.visitors <= 256:
            raise BadInput(f"--visitors must be between 1 and 256, got {self.visitors}")
        if self.seconds is not None and not 0 <= self.seconds < float("inf"):
            raise BadInput(f"--seconds must be zero or more, got {self.seconds:g}")
        opened = Arena(self.host, self.port, self.visitors, self.plain, self.policies, self.condition)
        with opened as arena, stopped_politely(arena.stop):
            arena.announce()
            if self.browser and sys.stderr.isatty():
                webbrowser.open(arena.address)
            with contextlib.suppress(KeyboardInterrupt):
                arena.wait(self.seconds)
            return {"address": arena.address, "loopback": arena.loopback, **arena.figures()}

    def show(self, result: dict[str, Any]) -> None:
        """Say how it went."""
        print(f"arena closed: {result['visitors_served']} visitors, {result['shots']} shots")


@contextlib.contextmanager
def stopped_politely(stop: Callable[[], None]) -> Iterator[None]:
    """While inside, a request to terminate (SIGTERM) only says `stop`, so that the figures are still printed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: stop())
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@dataclass(frozen=True)
class Probe:
    """Fit linear probes of the hidden puck's position, judge them on validation shots, draw error over hidden time."""

    policies: tyro.conf.Positional[tuple[str, ...]] = ()
    """`teacher`, FAMILY/SEED, ppo/SEED; all shipped policies by default."""
    out: OutFolder = Path("results/probe")
    """Folder of the figures: probe.json, probe.png, probe.svg."""
    refit: bool = False
    """Fit again where a probe of the same policy file exists."""
    threads: Threads = None

    def run(self) -> dict[str, Any]:
        """Fit what is missing, then report every probe there is."""
        from blindsave.diagnostics import probe_figure
        from blindsave.policies import catalog
        from blindsave.store import write_whole

        offered = catalog.trained()
        for name in self.policies:
            if name not in offered:
                raise BadInput(f"there is no trained policy `{name}` here; there are {', '.join(offered) or 'none'}")
        for name in self.policies or offered:
            self._fit(name)
        figures = {name: found.figures for name in offered if (found := _probe(name)) is not None}
        if not figures:
            raise BadInput("there is no policy to probe: no trained policies are shipped")
        result: dict[str, Any] = {"split": "validation", "unit": "mm", "policies": figures}
        write_whole(self.out / "probe.json", json.dumps(result, indent=1, allow_nan=False).encode() + b"\n")
        pictures = probe_figure.write(figures, self.out)
        return {**result, "files": [str(self.out / "probe.json"), *map(str, pictures)]}

    def _fit(self, name: str) -> None:
        from blindsave.diagnostics import probe_fit as probe
        from blindsave.diagnostics.probe import probe_file
        from blindsave.policies import resolve
        from blindsave.task.shots import shots

        if not self.refit and _probe(name) is not None:
            return
        print(f"probing {name}", file=sys.stderr)
        found = resolve(name)
        fitted = probe.fit_probe(name, found.sha256, found.policy, shots("train"), shots("validation"), self.threads)
        fitted.save(probe_file(name))

    def show(self, result: dict[str, Any]) -> None:
        """Print one line per family: means over its seeds."""
        families: dict[str, list[dict[str, Any]]] = {}
        for name, figures in result["policies"].items():
            families.setdefault(name.partition("/")[0], []).append(figures)
        rows = []
        for name, found in families.items():
            ends = [sum(one["by_time"][end]["mean_mm"] for one in found) / len(found) for end in (0, -1)]
            means = [sum(one[key] for one in found) / len(found) for key in ("mean_mm", "lateral_mm")]
            rows.append([name, str(len(found)), found[0]["reads"], *(f"{n:.1f}" for n in (*means, *ends))])
        times = next(iter(result["policies"].values()))["by_time"]
        columns = ["policy", "seeds", "reads", "mean", "across", *(f"{times[end]['hidden_ms']} ms" for end in (0, -1))]
        print_table("believed puck, mm from the true one, means over seeds", columns, rows)
        print("\n".join(result["files"]))


def _probe(name: str) -> Any:
    from blindsave.diagnostics.probe import find_probe
    from blindsave.policies import resolve

    return find_probe(resolve(name))
