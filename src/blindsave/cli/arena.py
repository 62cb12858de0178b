"""Commands about the bare arena: replay recorded actions, measure its speed."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro


@dataclass(frozen=True)
class Replay:
    """Run recorded launches and actions through the bare arena (no lock, no outcome) and save every field."""

    source: tyro.conf.Positional[Path]
    """npz file with names, length, launch and action (docs/arena.md)."""
    out: Path
    """Where to write the replayed fields."""
    threads: int | None = None
    """Threads to use; the result does not depend on it."""

    def run(self) -> dict[str, Any]:
        """Replay and write."""
        from blindsave.testing.replay import replay_file

        return replay_file(self.source, self.out, threads=self.threads)

    def show(self, result: dict[str, Any]) -> None:
        """Say what was written."""
        print(f"{result['scenarios']} scenarios, {result['control_steps']} control steps -> {result['out']}")


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
        from rich.console import Console
        from rich.table import Table

        table = Table("", "control steps/s", "ratio", title="Simulation speed, one thread unless said")
        table.add_row("compiled core", f"{result['control_steps_per_s']:.0f}", "")
        raw = f"{result['fraction_of_raw']:.1%} of it"
        table.add_row("raw MuJoCo physics alone", f"{result['raw_physics_control_steps_per_s']:.0f}", raw)
        times = f"{result['times_reference']:.0f}x it"
        table.add_row("the same loop in Python", f"{result['reference_control_steps_per_s']:.0f}", times)
        many = f"{result['thread_scaling']:.0%} efficiency"
        table.add_row(
            f"compiled core, {result['threads']} threads", f"{result['control_steps_per_s_all_threads']:.0f}", many
        )
        original = result["original_control_steps_per_s_measured_elsewhere"]
        times = f"{result['times_original_measured_elsewhere']:.0f}x it"
        table.add_row("original stack (measured elsewhere)", f"{original}", times)
        Console(soft_wrap=True).print(table)
