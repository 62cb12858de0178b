"""Commands that measure policies and say what the measurements mean."""

import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import tyro

from blindsave.errors import BadInput
from blindsave.progress import Progress


def numbers(text: str, what: str) -> tuple[float, ...]:
    """Read "0,5,10" as numbers."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise BadInput(f"{what} must be numbers separated by commas, not '{text}'") from None


def whole_numbers(text: str, what: str) -> tuple[int, ...]:
    """Read "0,5,10" as whole numbers."""
    found = numbers(text, what)
    for value in found:
        if value != int(value):
            raise BadInput(f"{what} must be whole numbers, not {value:g}")
    return tuple(int(value) for value in found)


def print_table(title: str, columns: list[str], rows: list[list[str]]) -> None:
    """Print a table with rich: first column to the left, folded where it is too long, numbers to the right, whole."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for index, column in enumerate(columns):
        table.add_column(column, justify="right" if index else "left", no_wrap=index > 0, overflow="fold")
    for row in rows:
        table.add_row(*row)
    Console(soft_wrap=True).print(table)


@dataclass(frozen=True)
class Evaluate:
    """Let policies play every shot of a split under every condition, and keep one row per episode.

    Finished policies are kept in the work folder: the same command again plays only what is missing.
    """

    policies: tyro.conf.Positional[tuple[str, ...]]
    """`teacher`, a scripted name (inactive, fixed_centre, privileged), FAMILY/SEED of a shipped student, or a file."""
    split: str = "validation"
    """Which shots: calibration, train, validation, test, principal_test or noise_test."""
    blackouts: str = "0,5,10,15,20"
    """Control steps (20 ms each) for which the puck is hidden, from observation 5 on."""
    noise_mm: str = "0"
    """Standard deviations of the tracked position; 0 is clean."""
    label: bool = False
    """Also compare every action with the teacher's (column action_mse)."""
    out: Path | None = None
    """Where the table goes; by default beside the work folder, named by its content."""
    work: Path = Path("runs/evaluate")
    """Folder of finished policies."""
    threads: int | None = None
    """Threads; all cores by default."""

    def run(self) -> dict[str, Any]:
        """Play, write the table, count."""
        from blindsave.evidence import grid as grids
        from blindsave.evidence import tables
        from blindsave.evidence.schedule import schedule
        from blindsave.policies.catalog import TEACHER, distinct, resolve
        from blindsave.store import digest

        if not self.policies:
            raise BadInput("name at least one policy, for example `teacher` or `structured_k0/14303`")
        lengths = whole_numbers(self.blackouts, "--blackouts")
        chosen = schedule(self.split, lengths, numbers(self.noise_mm, "--noise-mm"))
        policies = distinct([resolve(name) for name in self.policies])
        if self.split == "principal_test":
            _note_if_sealed()
        teacher = resolve(TEACHER) if self.label else None
        with Progress(f"playing {self.split}", len(policies) * len(chosen)) as bar:
            table = grids.grid(self.work, policies, chosen, teacher=teacher, threads=self.threads, progress=bar.advance)
        content = digest([[one.name, one.sha256] for one in policies] + [chosen.describe(), self.label])[:16]
        path = tables.write(table, self.out or self.work / f"{self.split}-{content}.parquet")
        named = dict(zip(self.policies, policies, strict=True))
        counts = {name: _saves(table, one.family, one.training_seed) for name, one in named.items()}
        renamed = {name: one.name for name, one in named.items() if "@" in one.name}
        return {"policies": counts, "table": str(path), **({"renamed": renamed} if renamed else {})}

    def show(self, result: dict[str, Any]) -> None:
        """Print save rates."""
        first = next(iter(result["policies"].values()))
        rows = [
            [name, *(f"{100 * cell['saves'] / cell['shots']:.1f}" for cell in cells.values())]
            for name, cells in result["policies"].items()
        ]
        print_table(f"{self.split}: saves in %, by hidden control steps", ["policy", *first], rows)
        for file, name in result.get("renamed", {}).items():
            print(f"{file} holds a policy of a name that takes part already; its rows are those of {name}")
        print(f"rows: {result['table']}")


@dataclass(frozen=True)
class Stats:
    """Save rates with intervals, planned differences, equivalence, exact pairs and groups, from tables alone."""

    table: tyro.conf.Positional[Path]
    """An episode table (Parquet)."""
    split: str | None = None
    """Which split, where the table holds several."""
    plan: Path = Path("protocol.toml")
    """The analysis plan."""
    replicates: int = 10_000
    """Bootstrap replicates."""

    def run(self) -> dict[str, Any]:
        """Analyse the table."""
        from blindsave.evidence import tables
        from blindsave.evidence.analysis import analyse
        from blindsave.evidence.plan import load_plan

        if self.replicates < 1:
            raise BadInput("a bootstrap needs at least one replicate")
        return analyse(tables.read(self.table), load_plan(self.plan), self.split, self.replicates)

    def show(self, result: dict[str, Any]) -> None:
        """Print rates and differences in per cent and points."""
        lengths = list(next(iter(result["rates"].values())))
        rows = [
            [name, *(_percent(cells[length]) for length in lengths), f"{100 * result['overall'][name]:.2f}"]
            for name, cells in result["rates"].items()
        ]
        title = f"{result['split']}: saves in % [95 % interval], by hidden control steps"
        print_table(title, ["policy", *lengths, "0-400 ms"], rows)
        for name in ("primary", "secondary"):
            if result.get(name):
                print_contrasts(f"{name} differences in points", result[name])


def print_contrasts(title: str, contrasts: list[dict[str, Any]]) -> None:
    """Print differences with interval, p, Holm-adjusted p and equivalence."""
    rows = [
        [
            f"{c['a']} - {c['b']}",
            f"{100 * c['estimate']:+.2f}",
            f"[{100 * c['low']:+.2f}, {100 * c['high']:+.2f}]",
            f"{c['p']:.4f}",
            "" if c["p_holm"] is None else f"{c['p_holm']:.4f}",
            "yes" if c["equivalence"]["equivalent"] else "not shown",
        ]
        for c in contrasts
    ]
    margin = 100 * contrasts[0]["equivalence"]["margin"]
    print_table(title, ["difference", "estimate", "95 %", "p", "Holm", f"within ±{margin:g}"], rows)


@dataclass(frozen=True)
class PowerCommand:
    """How many shots or training seeds would resolve a difference, judged by how results vary in a table."""

    table: tyro.conf.Positional[Path]
    """An episode table (Parquet)."""
    a: str = "structured_k0"
    """First policy."""
    b: str = "gru_n64"
    """Second policy."""
    blackout: int = 20
    """Hidden control steps."""
    points: float = 2.0
    """The true difference to be found, in percentage points."""
    split: str | None = None
    """Which split, where the table holds several."""

    def run(self) -> dict[str, Any]:
        """Estimate components and sizes."""
        from blindsave.evidence import tables
        from blindsave.evidence.power import power
        from blindsave.evidence.saves import saves

        if self.points <= 0:
            raise BadInput(f"--points must be above zero, not {self.points:g}")
        dense = saves(tables.read(self.table), self.split)
        return power(dense, self.a, self.b, self.blackout, self.points / 100).to_dict()

    def show(self, result: dict[str, Any]) -> None:
        """Print the answer in sentences."""
        parts = result["components"]
        print(f"{self.a} - {self.b} at {self.blackout} steps, {parts['seeds']} seeds, {parts['units']} units:")
        print(f"  this design finds {100 * result['resolvable_now']:.2f} points four times in five")
        for what, needed in (("shots", result["shots_needed"]), ("seeds", result["seeds_needed"])):
            answer = f"{needed} {what}" if needed else f"no number of {what} alone"
            print(f"  {self.points:g} points would take {answer}")


@dataclass(frozen=True)
class BenchCoverage:
    """Count how often 95 % intervals hold the truth in synthetic studies whose truth is known."""

    studies: int = 2000
    """Synthetic studies per population."""
    replicates: int = 1000
    """Bootstrap replicates per study."""

    def run(self) -> dict[str, Any]:
        """Simulate every population."""
        import time

        from blindsave.bench.coverage import POPULATIONS, coverage
        from blindsave.store import provenance

        if self.studies < 1 or self.replicates < 1:
            raise BadInput("a coverage benchmark needs at least one study and one replicate")
        started = time.perf_counter()
        found = [coverage(population, self.studies, self.replicates) for population in POPULATIONS]
        populations = [asdict(p) | c for p, c in zip(POPULATIONS, found, strict=True)]
        return {"populations": populations, "wall_s": time.perf_counter() - started, **provenance()}

    def show(self, result: dict[str, Any]) -> None:
        """Print coverage in per cent."""
        rows = [
            [p["name"], str(p["seeds"]), f"{100 * p['rate']:.1f}", f"{100 * p['difference']:.1f}"]
            for p in result["populations"]
        ]
        title = f"coverage of 95 % intervals in %, {self.studies} studies each ({result['wall_s']:.1f} s)"
        print_table(title, ["population", "seeds", "of a rate", "of a difference"], rows)


@dataclass(frozen=True)
class BenchEvaluate:
    """Time the evaluation of one student against what its control steps cost in the bare simulator."""

    policy: tyro.conf.Positional[str] = "structured_k0"
    """A policy as in `evaluate`, or a family (untrained, training seed 14303)."""
    shots: int = 225
    """Shots of the principal test, each at six blackout lengths."""
    rounds: int = 3
    """Rounds; simulator and evaluation take turns, medians count."""
    threads: int | None = None
    """Threads; all cores by default."""

    def run(self) -> dict[str, Any]:
        """Measure both in turns."""
        from blindsave.bench.evaluation import bench_evaluate
        from blindsave.store import provenance

        if self.shots < 1 or self.rounds < 1:
            raise BadInput("a benchmark needs at least one shot and one round")
        return bench_evaluate(self.policy, self.shots, self.rounds, self.threads) | provenance()

    def show(self, result: dict[str, Any]) -> None:
        """Print the ratio."""
        print(
            f"{result['episodes']} episodes of {result['policy']} ({result['control_steps']} control steps) took"
            f" {result['evaluation_s']:.2f} s, {result['times_simulation']:.2f} times their cost in the simulator"
        )


def _note_if_sealed() -> None:
    """Playing the test early is allowed, but nobody should do it without noticing."""
    from blindsave.evidence.ledger import Ledger

    if Ledger("results/ledger.jsonl").last("results") is None:
        print("note: this plays the principal test outside a release (docs/seal.md)", file=sys.stderr)


def _saves(table: Any, policy: str, training_seed: int) -> dict[str, dict[str, int]]:
    from blindsave.evidence.release import save_rates

    seeds, names = table["training_seed"].to_numpy(), table["policy"].to_numpy(zero_copy_only=False)
    return save_rates(table.filter((names == policy) & (seeds == training_seed)))[policy]


def _percent(cell: dict[str, Any]) -> str:
    return f"{100 * cell['estimate']:.2f} [{100 * cell['low']:.1f}, {100 * cell['high']:.1f}]"
