"""Commands that measure policies and say what the measurements mean."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import tyro

from blindsave.cli.shared import Threads, at_least_one, numbers, print_saves, print_table, whole_numbers
from blindsave.cli.targets import OutFile, OutFolder
from blindsave.errors import BadInput
from blindsave.progress import Progress

MOST_REPLICATES = 200_000
"""Of a bootstrap, all of which are held in memory."""


@dataclass(frozen=True)
class Evaluate:
    """Evaluate policies on every shot of a split under every condition, and keep one row per episode.

    Finished policies are kept in the work folder: the same command again plays only what is missing.
    """

    policies: tyro.conf.Positional[tuple[str, ...]]
    """`teacher`, a scripted name (inactive, fixed_centre, privileged), a classical rival (differences, least_squares,
    kalman, kalman_gated, bayes, planner), FAMILY/SEED of a shipped student, or a file."""
    split: str = "validation"
    """Which shots: calibration, train, validation, test, principal_test or noise_test."""
    blackouts: str = "0,5,10,15,20"
    """Control steps (20 ms each) for which the puck is hidden, from observation 5 on."""
    conditions: tuple[str, ...] = ()
    """What else happens: clean, noise_5mm, latency_2+outliers_3percent... (`blindsave conditions` lists them)."""
    noise_mm: str = ""
    """Short for conditions of tracking noise: 0,5 is clean and noise_5mm."""
    label: bool = False
    """Also compare every action with the teacher's (column action_mse)."""
    out: OutFile | None = None
    """Where the table goes; by default beside the work folder, named by its content."""
    work: OutFolder = Path("runs/evaluate")
    """Folder of finished policies."""
    threads: Threads = None

    def run(self) -> dict[str, Any]:
        """Play, write the table, count."""
        from blindsave.evidence import grid as grids
        from blindsave.evidence import tables
        from blindsave.evidence.schedule import noise_levels, schedule
        from blindsave.policies.catalog import TEACHER, distinct, resolve
        from blindsave.store import digest
        from blindsave.task.conditions import CLEAN_NAME

        if not self.policies:
            raise BadInput("name at least one policy, for example `teacher` or `structured_k0/14303`")
        lengths = whole_numbers(self.blackouts, "--blackouts")
        noise = noise_levels(numbers(self.noise_mm, "--noise-mm")) if self.noise_mm else ()
        chosen = schedule(self.split, lengths, (*self.conditions, *noise) or (CLEAN_NAME,))
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
        print_saves(self.split, result["policies"])
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
    plan: Path | None = None
    """The analysis plan; by default `protocol.toml` here, or else the published one."""
    replicates: int = 10_000
    """Bootstrap replicates."""
    method: Literal["bootstrap", "mrmc"] | None = None
    """How intervals are made; the plan's method by default. Another one is marked as chosen after the fact."""
    teachers: tuple[Path, ...] = ()
    """The same table of other teachers' students: adds planned differences with the teacher as a random factor."""

    def run(self) -> dict[str, Any]:
        """Analyse the table."""
        from blindsave.evidence import tables
        from blindsave.evidence.plan import load_plan
        from blindsave.report.statistics import between_teachers, statistics
        from blindsave.verify import refuse_unverified

        at_least_one(replicates=self.replicates)
        if self.replicates > MOST_REPLICATES:
            raise BadInput(f"--replicates must be at most {MOST_REPLICATES:,}, got {self.replicates}")
        held = []
        for path in (self.table, *self.teachers):
            refuse_unverified(path)
            held.append(tables.read(path))
        plan = load_plan(self.plan or _plan())
        found = statistics(held[0], plan, self.split, self.replicates, self.method)
        return found | (between_teachers(held, plan, self.split, self.replicates) if self.teachers else {})

    def show(self, result: dict[str, Any]) -> None:
        """Print rates and differences in per cent and points."""
        lengths = list(next(iter(result["rates"].values())))
        rows = [
            [name, *(_percent(cells[length]) for length in lengths), f"{100 * result['overall'][name]:.2f}"]
            for name, cells in result["rates"].items()
        ]
        title = f"{result['split']}: saves in % [95 % interval], by hidden control steps"
        print_table(title, ["policy", *lengths, "0-400 ms"], rows)
        for name in ("primary", "secondary", "between_teachers"):
            if result.get(name):
                print_contrasts(f"{name.replace('_', ' ')} differences in points", result[name])
        late = ", chosen after the fact: the plan named another" if result["after_the_fact"] else ""
        print(f"method: {result['method']}{late}")


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
    method: Literal["bootstrap", "mrmc"] = "bootstrap"
    """Normal tests, or the t tests of the multi-reader analysis, which ask for more where few seeds decide."""

    def run(self) -> dict[str, Any]:
        """Estimate components and sizes."""
        from blindsave.evidence import tables
        from blindsave.evidence.power import power
        from blindsave.evidence.saves import saves

        if not 0 < self.points <= 100:
            raise BadInput(f"--points must be above zero and at most 100, not {self.points:g}")
        if self.a == self.b:
            raise BadInput(f"a difference is of two policies; --a and --b are both {self.a}")
        dense = saves(tables.read(self.table), self.split)
        return power(dense, self.a, self.b, self.blackout, self.points / 100, method=self.method).to_dict()

    def show(self, result: dict[str, Any]) -> None:
        """Print the answer in sentences."""
        parts = result["components"]
        print(f"{self.a} - {self.b} at {self.blackout} steps, {parts['seeds']} seeds, {parts['units']} units:")
        print(f"  this design detects {100 * result['resolvable_now']:.2f} points with 80 % power")
        for what, needed in (("shots", result["shots_needed"]), ("seeds", result["seeds_needed"])):
            answer = f"{needed} {what}" if needed else f"no number of {what} alone"
            print(f"  {self.points:g} points would take {answer}")


@dataclass(frozen=True)
class BenchCoverage:
    """Count how often intervals hold the truth, and tests err, in synthetic studies whose truth is known."""

    studies: int = 4000
    """Synthetic studies per population."""
    replicates: int = 1000
    """Bootstrap replicates per study."""

    def run(self) -> dict[str, Any]:
        """Simulate every population."""
        import time

        from blindsave.bench.coverage import POPULATIONS, describe
        from blindsave.progress import Progress
        from blindsave.store import provenance

        at_least_one(studies=self.studies, replicates=self.replicates)
        started, found = time.perf_counter(), []
        with Progress("synthetic populations", len(POPULATIONS)) as bar:
            for population in POPULATIONS:
                found.append(describe(population, self.studies, self.replicates))
                bar.advance(remark=population.name)
        sizes = {"studies": self.studies, "replicates": self.replicates}
        return {"populations": found, **sizes, "wall_s": time.perf_counter() - started, **provenance()}

    def show(self, result: dict[str, Any]) -> None:
        """Print shares in per cent."""
        names = ("rate", "difference", "size", "power")
        rows = [
            [p["name"], str(p["seeds"]), *(f"{100 * p[way][name]:.1f}" for name in names for way in _WAYS)]
            for p in result["populations"]
        ]
        said = ("rate", "difference", "equivalent at 2", "equivalent at 0")
        heads = [f"{name}, {way}" for name in said for way in _WAYS]
        title = f"share of {self.studies} studies in %: intervals that hold the truth, and equivalence found"
        print_table(f"{title} ({result['wall_s']:.0f} s)", ["population", "seeds", *heads], rows)


_WAYS = ("bootstrap", "mrmc")


@dataclass(frozen=True)
class BenchEvaluate:
    """Time the evaluation of one student against what its control steps cost in the bare simulator."""

    policy: tyro.conf.Positional[str] = "structured_k0"
    """A policy as in `evaluate`, or a family (untrained, training seed 14303)."""
    shots: int = 225
    """Shots of the principal test, each at six blackout lengths."""
    rounds: int = 3
    """Rounds; simulator and evaluation take turns, medians count."""
    threads: Threads = None

    def run(self) -> dict[str, Any]:
        """Measure both in turns."""
        from blindsave.bench.evaluation import bench_evaluate
        from blindsave.store import provenance

        at_least_one(shots=self.shots, rounds=self.rounds)
        return bench_evaluate(self.policy, self.shots, self.rounds, self.threads) | provenance()

    def show(self, result: dict[str, Any]) -> None:
        """Print the ratio."""
        print(
            f"{result['episodes']} episodes of {result['policy']} ({result['control_steps']} control steps) took"
            f" {result['evaluation_s']:.2f} s, {result['times_simulation']:.2f} times their cost in the simulator"
        )


def _plan() -> Path:
    from blindsave.verify.places import PLAN, brought

    return Path(PLAN) if Path(PLAN).is_file() else brought() / PLAN


def _note_if_sealed() -> None:
    """Playing the test early is allowed, but nobody should do it without noticing."""
    from blindsave.evidence.ledger import Ledger
    from blindsave.verify.places import LEDGER, shipped

    if Ledger(shipped() / "results" / LEDGER).last("results") is None:
        print("note: this plays the principal test outside a release (docs/seal.md)", file=sys.stderr)


def _saves(table: Any, policy: str, training_seed: int) -> dict[str, dict[str, int]]:
    from blindsave.evidence.release import save_rates

    seeds, names = table["training_seed"].to_numpy(), table["policy"].to_numpy(zero_copy_only=False)
    return save_rates(table.filter((names == policy) & (seeds == training_seed)))[policy]


def _percent(cell: dict[str, Any]) -> str:
    return f"{100 * cell['estimate']:.2f} [{100 * cell['low']:.1f}, {100 * cell['high']:.1f}]"
