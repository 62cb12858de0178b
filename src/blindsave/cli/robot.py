"""Commands that put a policy on a robot: the loop, the arena as the robot, and the loop under strain."""

import contextlib
import signal
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import tyro

from blindsave.cli.shared import print_facts, print_table, tell
from blindsave.cli.targets import OutFile
from blindsave.errors import BadInput
from blindsave.progress import Progress

PORT, RATE_HZ, FASTEST_HZ = 4750, 50.0, 100_000.0
MOST_TICKS = 1000
"""Of blindness: a policy that catches up takes one step for each."""
SILENCE_AFTER_S = 2.0
CONDITIONS = ("clean", "noise_5mm", "latency_2+outliers_3percent")
KEPT = ("count", "missed", "p50_ns", "p99_ns", "p999_ns", "worst_ns")


@dataclass(frozen=True)
class Drive:
    """Run a policy against a robot over UDP, in a C loop that is compiled here, until Ctrl-C.

    The robot's packets are the clock. Where they stay away the policy lives with a hidden puck, then the command stands
    still, then the robot is told to stop (docs/drive.md).
    """

    policy: tyro.conf.Positional[str] = "structured_k0/14303"
    """`FAMILY/SEED` (a shipped student) or a policy file."""
    numbers: Literal["float", "int16", "int8"] = "float"
    """What the policy computes with."""
    bind: str = "127.0.0.1"
    """Address to listen on; 0.0.0.0 is every one this machine has."""
    port: int = PORT
    """UDP port; 0 takes any that is free."""
    rate_hz: float = RATE_HZ
    """Packets per second that the robot is expected to send."""
    in_step: bool = False
    """The robot waits for every answer: no packet is ever late (`blindsave robot --in-step`)."""
    ticks: int | None = None
    """End after so many ticks."""
    blind_ticks: int = 25
    """Ticks without a packet that the policy lives through with a hidden puck."""
    stop_ticks: int = 50
    """Ticks without a packet after which the robot is told to stop."""
    max_step: float = 2.0
    """Largest change of a command per tick, in units of half the mallet's box; 2 is no limit."""
    log: OutFile | None = None
    """Write down every packet, tick and command."""
    replay: Path | None = None
    """Run a log again instead, and compare every bit of every command."""

    def run(self) -> dict[str, Any]:
        """Compile the loop and let it run, or replay a log."""
        from blindsave.drive import DriveProcess, replay, write_sources
        from blindsave.drive.sources import build
        from blindsave.policies import load

        options = self._options()
        policy = load(self.policy)
        with tempfile.TemporaryDirectory() as folder:
            program = build(write_sources(policy, Path(folder), self.numbers))
            if self.replay is not None:
                found = replay(program, self.replay)
                return {"policy": policy.name, "log": str(self.replay), **found, "ok": found["equal"]}
            with DriveProcess(program, options) as loop:
                tell(f"{policy.name} ({self.numbers}) listens on {loop.address[0]}:{loop.address[1]}; Ctrl-C ends it")
                signal.signal(signal.SIGTERM, signal.default_int_handler)  # whoever ends us, the robot is told to stop
                with contextlib.suppress(KeyboardInterrupt):
                    loop.process.wait()
                found = loop.wait() if loop.process.poll() is not None else loop.stop()
        log = None if self.log is None else str(self.log)
        return {"policy": policy.name, "address": f"{loop.address[0]}:{loop.address[1]}", "log": log, **found}

    def _options(self) -> Any:
        import ipaddress

        from blindsave.drive import DriveOptions

        try:
            ipaddress.IPv4Address(self.bind)
        except ValueError:
            raise BadInput(f"--bind must be an IPv4 address, such as 127.0.0.1, not '{self.bind}'") from None
        check_port(self.port)
        check_rate(self.rate_hz)
        if not self.blind_ticks <= self.stop_ticks or self.blind_ticks > MOST_TICKS:
            raise BadInput(f"--blind-ticks must be at most --stop-ticks and {MOST_TICKS}, got {self.blind_ticks}")
        if not self.max_step > 0:
            raise BadInput(f"--max-step must be above zero, got {self.max_step:g}")
        if self.replay is not None and not self.replay.is_file():
            raise BadInput(f"{self.replay} is not a file")
        kept = {"blind_ticks": self.blind_ticks, "stop_ticks": self.stop_ticks, "max_step": self.max_step}
        others = {"bind": self.bind, "port": self.port, "ticks": self.ticks or 0, "log": self.log, **kept}
        return DriveOptions.in_step(**others) if self.in_step else DriveOptions.at_rate(self.rate_hz, **others)

    def show(self, result: dict[str, Any]) -> None:
        """Print what happened; of the histograms, the quantiles."""
        print_facts("blindsave drive", without_bins(result))


@dataclass(frozen=True)
class RobotCommand:
    """Let the arena be the robot: it sends what its tracker sees to `blindsave drive` and obeys the answers."""

    to: str = f"127.0.0.1:{PORT}"
    """Where the loop listens."""
    split: str = "validation"
    """Which shots."""
    shots: int | None = None
    """Only the first so many of them."""
    blackout: int = 20
    """Control steps (20 ms each) for which the tracker loses the puck."""
    condition: str = "clean"
    """What else its tracker does: noise_5mm, latency_2+outliers_3percent... (`blindsave conditions` lists them)."""
    rate_hz: float = RATE_HZ
    """Control steps per second; 50 is real time."""
    in_step: bool = False
    """Wait for the answer to every observation, however long it takes: saves are exactly those of `evaluate`."""
    loss: float = 0.0
    """Share of packets lost on the way to the loop."""
    duplicate: float = 0.0
    """Share sent twice."""
    reorder: float = 0.0
    """Share that the next packet overtakes."""
    corrupt: float = 0.0
    """Share with one wrong bit."""
    truncate: float = 0.0
    """Share cut short."""
    garbage: float = 0.0
    """Share followed by random bytes."""
    silence_s: float = 0.0
    """Send nothing for so long, two seconds after the start."""
    clock_step_s: float = 0.0
    """Put the robot's clock forward by so much, two seconds after the start."""
    seed: int = 0
    """Decides which packets the faults meet."""

    def run(self) -> dict[str, Any]:
        """Play the shots."""
        import time

        import numpy as np

        from blindsave.drive import Robot
        from blindsave.drive.faults import SHARES, Faults
        from blindsave.task.outcomes import Outcome

        check_rate(self.rate_hz)
        address, episodes = address_of(self.to), self._episodes()
        after = round(SILENCE_AFTER_S * self.rate_hz)
        faults = Faults(
            **{name: getattr(self, name) for name in SHARES},
            silence=(after, round(self.silence_s * self.rate_hz)),
            clock_step=(after, round(1e6 * self.clock_step_s)),
            seed=self.seed,
        )
        rate, started = None if self.in_step else self.rate_hz, time.perf_counter()
        with Robot(address, rate_hz=rate, faults=faults) as robot, Progress("playing", len(episodes)) as bar:
            played = robot.play(episodes, bar.advance)
        trips = np.percentile(played.round_trip_us, (50, 99, 99.9)) if played.round_trip_us else None
        return {
            "to": self.to,
            "split": self.split,
            "blackout": self.blackout,
            "condition": self.condition,
            "saves": played.saves,
            "shots": len(episodes),
            "outcomes": dict(Counter(Outcome(code).label for code in played.outcomes)),
            "saved": [bool(Outcome(code).saved) for code in played.outcomes],
            "ticks": played.ticks,
            "modes": played.modes,
            "unanswered": played.unanswered,
            "braked": played.braked,
            "overruns": played.overruns,
            "round_trip_us": None if trips is None else dict(zip(("p50", "p99", "p999"), trips.tolist(), strict=True)),
            "faults": robot.line.counts,
            "wall_s": time.perf_counter() - started,
        }

    def _episodes(self) -> list[Any]:
        from blindsave.task.conditions import condition, grid
        from blindsave.task.shots import shots

        return grid(shots(self.split)[: self.shots], (self.blackout,), condition(self.condition))

    def show(self, result: dict[str, Any]) -> None:
        """Print saves, and how the answers came."""
        shown = {name: value for name, value in result.items() if name not in ("saved", "faults")}
        met = {name: count for name, count in result["faults"].items() if count}
        print_facts("blindsave robot", shown | ({"faults": met} if met else {}))


@dataclass(frozen=True)
class BenchDrive:
    """Strain the loop: ticks against the policy itself, shots against `evaluate`, every fault of a line."""

    policy: tyro.conf.Positional[str] = "structured_k0/14303"
    """`FAMILY/SEED` or a policy file."""
    ticks: int = 1_000_000
    """Ticks in step, as fast as they go."""
    split: str = "principal_test"
    """Shots played through the loop and without it, hidden for 400 ms, with a good tracker and with two bad ones."""
    fault_ticks: int = 3000
    """Packets with each fault, and as many after it."""
    rate_hz: float = 1000.0
    """Rate of the faulty packets."""

    def run(self) -> dict[str, Any]:
        """Measure both."""
        import numpy as np

        from blindsave.deploy.calibration import recorded
        from blindsave.drive import replay, soak, write_sources
        from blindsave.drive.sources import build
        from blindsave.policies import load
        from blindsave.store import provenance

        check_rate(self.rate_hz)
        soak.shots(self.split)
        policy: Any = load(self.policy)
        faults = soak.campaign(self.rate_hz)
        with tempfile.TemporaryDirectory() as name, Progress("ticks", self.ticks) as bar:
            folder = Path(name)
            program = build(write_sources(policy, folder))
            seen = np.concatenate(recorded(policy))
            log = folder / "million.log"
            found = soak.million(program, policy, seen, self.ticks, log, bar.advance)
            found["replayed"] = replay(program, log)["equal"]
            found["log_bytes"] = log.stat().st_size
            played = [soak.shots_in_step(program, policy, self.split, 20, under) for under in CONDITIONS]
            met = {}
            for fault, setting in faults.items():
                tell(f"fault: {fault}")
                met[fault] = soak.faulty(program, seen, setting, self.fault_ticks, self.rate_hz, folder / "fault.log")
        good = not found["wrong"] and found["replayed"] and all(one["ok"] for one in met.values())
        good = good and not any(one["outcomes_that_differ"] for one in played)
        return {
            "policy": policy.name,
            "shots": played,
            "loopback": found,
            "rate_hz": self.rate_hz,
            "faults": met,
            "ok": good,
            **provenance(),
        }

    def show(self, result: dict[str, Any]) -> None:
        """Print times and what each fault led to."""
        print_facts("loopback", without_bins(result["loopback"]))
        for one in result["shots"]:
            line = "{shots} shots of {split}, {condition}: {saves} saves, {saves_evaluated} without the loop, "
            print((line + "{outcomes_that_differ} outcomes differ").format(**one))
        names = ("run", "blind", "hold", "stop")
        rows = [
            [
                fault,
                str(m["packets"]),
                *(str(m["modes"][n]) for n in names),
                str(m["unsafe"]),
                str(m["recovered_after"]),
            ]
            for fault, m in result["faults"].items()
        ]
        print_table("faults: commands by mode", ["fault", "packets", *names, "unsafe", "recovered after"], rows)
        print("every log replayed to the bit" if result["ok"] else "FAILED")


def without_bins(values: dict[str, Any]) -> dict[str, Any]:
    """A summary of the loop without its histograms' bins."""
    times = {name: {k: values[name][k] for k in KEPT} for name in ("work", "response") if name in values}
    return values | times


def check_port(port: int) -> None:
    """Refuse a port that does not exist."""
    if not 0 <= port <= 65535:
        raise BadInput(f"--port must be between 0 and 65535, got {port}")


def check_rate(rate_hz: float) -> None:
    """Refuse a rate that no loop can keep, or none at all."""
    if not 1 <= rate_hz <= FASTEST_HZ:
        raise BadInput(f"--rate-hz must be between 1 and {FASTEST_HZ:g}, got {rate_hz:g}")


def address_of(text: str) -> tuple[str, int]:
    """Read HOST:PORT."""
    import ipaddress

    host, _, port = text.rpartition(":")
    try:
        ipaddress.IPv4Address("127.0.0.1" if host == "localhost" else host)
        number = int(port) if port.isascii() and port.isdigit() and len(port) < 6 else 0
    except ValueError:
        number = 0
    if not 1 <= number <= 65535:
        raise BadInput(f"--to must be an IPv4 address and a port, such as 127.0.0.1:{PORT}, not '{text[:60]}'")
    return ("127.0.0.1" if host == "localhost" else host), number
