"""Commands about the bare arena: replay recorded actions, measure its speed."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

from blindsave.cli.shared import Threads, print_table
from blindsave.cli.targets import OutFile


@dataclass(frozen=True)
class Replay:
    """Run recorded launches and actions through the bare arena (no lock, no outcome) and save every field."""

    source: tyro.conf.Positional[Path]
    """npz file with names, length, launch and action (docs/arena.md)."""
    out: OutFile
    """Where to write the replayed fields."""
    threads: Threads = None

    def run(self) -> dict[str, Any]:
        """Replay and write."""
        from blindsave.testing.replay import replay_file

        return replay_file(self.source, self.out, threads=self.threads)


@dataclass(frozen=True)
class BenchSim:
    """Measure the simulation: our loop, MuJoCo's raw physics on the same states, and plain Python, in one run."""

    tables: int = 64
    """Tables simulated together."""
    rounds: int = 7
    """Interleaved rounds; the median counts."""
    threads: int | None = None
    """Threads of the many-threaded measurement; all cores by default."""

    def run(self) -> dict[str, Any]:
        """Measure."""
        from blindsave.bench.sim import bench
        from blindsave.store import provenance

        return {**bench(n=self.tables, rounds=self.rounds, threads=self.threads), "measured_on": provenance()}

    def show(self, result: dict[str, Any]) -> None:
        """Print the figures as a table."""
        original = result["original_control_steps_per_s_measured_elsewhere"]
        rows = [
            ("compiled core", result["control_steps_per_s"], ""),
            ("raw MuJoCo physics alone", result["raw_physics_control_steps_per_s"], f"{result['fraction_of_raw']:.1%}"),
            ("the same loop in Python", result["reference_control_steps_per_s"], f"{result['times_reference']:.0f}x"),
            ("original stack (measured elsewhere)", original, f"{result['times_original_measured_elsewhere']:.0f}x"),
            (
                f"compiled core, {result['threads']} threads",
                result["control_steps_per_s_all_threads"],
                f"{result['thread_scaling']:.0%} efficiency",
            ),
        ]
        title = "Simulation speed, one thread unless stated; the core reaches this share or multiple of each"
        print_table(
            title, ["", "control steps/s", "core"], [(name, f"{rate:.0f}", ratio) for name, rate, ratio in rows]
        )
