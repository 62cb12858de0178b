"""Commands of the memory task: train the students of a plan, draw their memory-horizon curves, audit the task."""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import tyro

from blindsave.cli.shared import Threads, print_table, tell, whole_numbers
from blindsave.cli.targets import OutFile, OutFolder

SHIPPED_PLAN = "results/remember/horizon/protocol.toml"


@dataclass(frozen=True)
class Train:
    """Train every family of a plan on the memory task and put it all where `blindsave freeze` looks for it.

    Students that are there already are kept, so the same command goes on where it was stopped.
    """

    plan: tyro.conf.Positional[Path | None] = None
    """The plan: families, training seeds, guests; that of the published study by default."""
    out: OutFolder = Path("runs/remember")
    """The study's folder."""
    families: tuple[str, ...] = ()
    """Only these of the plan's families, so that several machines or processes can share the work."""
    base_episodes: int | None = None
    """Fewer episodes of the teacher (a trial)."""
    epochs: int | None = None
    """Fewer epochs (a trial)."""
    base_only: bool = False
    """Teach by the teacher's episodes alone, without a round of the students' own."""
    naive: bool = False
    """Leave requests as they are while the arm is held: students then learn to copy (docs/remember.md)."""
    threads: Threads = None

    def run(self) -> dict[str, Any]:
        """Train what is missing."""
        from blindsave.errors import BadInput
        from blindsave.evidence.plan import load_plan
        from blindsave.learning.remember import lessons
        from blindsave.policies.named import teacher_content
        from blindsave.policies.students.registry import family
        from blindsave.store import write_json, write_whole
        from blindsave.verify.places import brought

        plan = load_plan(self.plan or brought() / SHIPPED_PLAN)
        unknown = set(self.families) - set(plan.families)
        if unknown:
            raise BadInput(f"{plan.path} has no family {min(unknown)}; it has {', '.join(plan.families)}")
        budget = replace(lessons.FULL, seeds=plan.training_seeds, mirrored=not self.naive)
        if self.base_episodes is not None:
            share = self.base_episodes // len(budget.seeds) * len(budget.seeds)
            budget = replace(budget, base_episodes=self.base_episodes, round_episodes=share)
        if self.base_only:
            budget = replace(budget, rounds=0)
        if self.epochs is not None:
            budget = replace(budget, recipe=replace(budget.recipe, epochs=self.epochs, patience=self.epochs))
        write_whole(self.out / "protocol.toml", plan.path.read_bytes())
        write_json(self.out / "results" / "lessons.json", asdict(budget))
        for name, seeds in {plan.reference: (0,), **plan.guests}.items():
            for seed in seeds:
                write_whole(self.out / plan.checkpoint(name, seed), teacher_content(Path(name)))
        given, trained = None, []
        for name in self.families or plan.families:
            files = {seed: self.out / plan.checkpoint(name, seed) for seed in plan.training_seeds}
            if all(path.is_file() for path in files.values()):
                continue
            given = lessons.base(budget, self.threads) if given is None else given
            for student in lessons.taught(family(name), budget, given, threads=self.threads, tell=tell):
                student.save(files[student.provenance.seed])
            trained.append(name)
        return {"folder": str(self.out), "trained": trained, "lessons": asdict(budget)}


@dataclass(frozen=True)
class Curves:
    """Memory-horizon curves, bars and verdicts of an episode table of the memory task."""

    table: tyro.conf.Positional[Path]
    """A table of `blindsave release` or of `blindsave evaluate ... --conditions remember_0 remember_20`."""
    plan: Path | None = None
    """A plan whose hypotheses and bars are decided by the table."""
    out: OutFile | None = None
    """Also write the figures to this JSON file."""

    def run(self) -> dict[str, Any]:
        """Count, and decide."""
        from blindsave.diagnostics import horizon
        from blindsave.evidence import tables
        from blindsave.evidence.plan import load_plan
        from blindsave.store import write_json

        rows = tables.read(self.table)
        found: dict[str, Any] = {"curves": horizon.curves(rows)}
        if self.plan is not None:
            plan = load_plan(self.plan)
            found |= {"verdicts": horizon.verdicts(plan, rows), "bars": horizon.bars(plan, found["curves"])}
        if self.out is not None:
            write_json(self.out, found)
        return found

    def show(self, result: dict[str, Any]) -> None:
        """Print a table of what was kept out, then the verdicts."""
        holds = sorted({one["hold_ms"] for one in result["curves"]})
        by_policy: dict[str, dict[int, float]] = {}
        for one in result["curves"]:
            by_policy.setdefault(one["policy"], {})[one["hold_ms"]] = one["alias_kept_out"]["estimate"]
        rows = [
            [name, *(f"{100 * rates[hold]:.1f}" if hold in rates else "" for hold in holds)]
            for name, rates in by_policy.items()
        ]
        print_table(
            "alias shots kept out (%), by how long the arm was held", ["policy", *(f"{h} ms" for h in holds)], rows
        )
        for one in result.get("verdicts", ()):
            print(f"{one['id']}: {one['verdict']} ({one['statement']})")
        for name, one in result.get("bars", {}).items():
            print(f"{name}: {'met' if one['met'] else 'missed'} { ({k: v for k, v in one.items() if k != 'met'}) }")


@dataclass(frozen=True)
class Figure:
    """Draw the memory horizon of the reference cores, of figures of `blindsave benchmark`, or of a study's table."""

    file: tyro.conf.Positional[Path | None] = None
    """A file of references, the benchmark.json of a run, or an episode table (.parquet); the shipped references by
    default."""
    cores: tuple[str, ...] = ()
    """Only these; all by default."""
    out: OutFolder = Path("out")
    """Folder for remember.svg and remember.png (of a table horizon.svg and .png), on white and on dark ground."""

    def run(self) -> dict[str, Any]:
        """Read and draw."""
        from blindsave.benchmark import figures, horizon_plate, references
        from blindsave.benchmark.budget import STANDARD
        from blindsave.diagnostics import horizon
        from blindsave.draw.policy_looks import looks
        from blindsave.errors import BadInput
        from blindsave.evidence import tables
        from blindsave.report.figures.export import write

        found: dict[str, list[Any]] = {}
        table = self.file is not None and self.file.suffix == ".parquet"
        if self.file is not None and table:
            for one in horizon.curves(tables.read(self.file)):
                found.setdefault(one["policy"], []).append(one)
        else:
            found = {one["core"]: [one] for one in references.read(self.file or references.file(), STANDARD)}
        missing = [name for name in self.cores if name not in found]
        if missing or not found:
            raise BadInput(f"there are no figures of {missing[0] if missing else 'any core'} in the file")
        chosen = [one for name in self.cores or found for one in found[name]]
        plate = horizon_plate.plate(chosen) if table else figures.plate(chosen)
        return {"files": [str(path) for path in write(plate, self.out, looks(self.cores or found))]}


@dataclass(frozen=True)
class Copying:
    """Find out who copies: until the arm is released, a policy hears the opposite of what it requested.

    Whoever remembers the puck keeps out as many shots as before; whoever repeats its last request leaves for the other.
    """

    policies: tyro.conf.Positional[tuple[str, ...]]
    """Policy files, or names as in `evaluate`."""
    holds: str = "0,10,20"
    """Control steps for which the arm is held."""
    split: str = "validation"
    """Whose alias shots."""
    pairs: int | None = None
    """Only the first pairs (a trial)."""
    out: OutFile | None = None
    """Also write the figures to this JSON file."""
    threads: Threads = None

    def run(self) -> dict[str, Any]:
        """Play every episode twice."""
        from blindsave.diagnostics.swap import twins
        from blindsave.learning.remember.mirrored import misheard
        from blindsave.policies.catalog import distinct, resolve
        from blindsave.store import write_json
        from blindsave.task.outcomes import Outcome
        from blindsave.task.remember import milliseconds, remembering

        holds, rows = whole_numbers(self.holds, "--holds"), []
        members = twins(self.split, self.pairs)
        for one in distinct([resolve(name) for name in self.policies]):
            for hold in holds:
                episodes = [remembering(hold).episode(shot) for shot in members]
                played = misheard(one.policy, episodes, self.threads)
                kept = [int((results.outcome != Outcome.GOAL_CONCEDED).sum()) for results in played]
                told = {"policy": one.name, "hold_ms": milliseconds(hold), "shots": len(members)}
                rows.append(told | {"kept_out": kept[0], "kept_out_misheard": kept[1]})
        found = {"split": self.split, "rows": rows}
        if self.out is not None:
            write_json(self.out, found)
        return found

    def show(self, result: dict[str, Any]) -> None:
        """Print one line per policy and hold."""
        rows = [
            [one["policy"], f"{one['hold_ms']} ms"]
            + [f"{100 * one[key] / one['shots']:.1f}" for key in ("kept_out", "kept_out_misheard")]
            for one in result["rows"]
        ]
        heads = ["policy", "held", "kept out", "when it mishears itself"]
        print_table(f"{result['split']}: alias shots kept out (%)", heads, rows)


@dataclass(frozen=True)
class Notebook:
    """Find out where the side is written down: twins exchange memories, or are shown each other's arm.

    It happens when a window of ten observations has lost its last reading, 200 ms after the puck disappeared. Who
    remembers goes where its memory says; who reads its own arm goes where that arm is.
    """

    policies: tyro.conf.Positional[tuple[str, ...]]
    """Policy files, or names as in `evaluate`."""
    hold: int = 5
    """Control steps for which the arm is held."""
    step: int = 15
    """The observation before which it happens; 5 is the first hidden one."""
    split: str = "validation"
    """Whose alias shots."""
    pairs: int | None = None
    """Only the first pairs (a trial)."""
    out: OutFile | None = None
    """Also write the figures to this JSON file."""
    threads: Threads = None

    def run(self) -> dict[str, Any]:
        """Play every pair three times."""
        from blindsave.cli.swap import seeds_of
        from blindsave.diagnostics import swap
        from blindsave.policies.catalog import distinct
        from blindsave.store import write_json
        from blindsave.task.remember import milliseconds, remembering

        chosen = distinct([one for name in self.policies for one in seeds_of(name)])
        members = swap.twins(self.split, self.pairs)
        episodes, rows = [remembering(self.hold).episode(shot) for shot in members], []
        ways: tuple[tuple[str, swap.How, int | None], ...] = (
            ("kept_out", "exchange", None),
            ("memories_exchanged", "exchange", self.step),
            ("twins_arm_shown", "arm", self.step),
        )
        for one in chosen:
            told = {"policy": one.name, "hold_ms": milliseconds(self.hold), "shots": len(members)}
            for key, how, step in ways:
                played = swap.play(one.policy, episodes, how, step, threads=self.threads)
                told[key] = int(played.kept_out.sum())
            rows.append(told)
        found = {"split": self.split, "hidden_ms": swap.milliseconds(self.step), "rows": rows}
        if self.out is not None:
            write_json(self.out, found)
        return found

    def show(self, result: dict[str, Any]) -> None:
        """Print one line per policy."""
        keys = ("kept_out", "memories_exchanged", "twins_arm_shown")
        rows = [
            [one["policy"], f"{one['hold_ms']} ms", *(f"{100 * one[key] / one['shots']:.1f}" for key in keys)]
            for one in result["rows"]
        ]
        heads = ["policy", "held", "as it is", "memories exchanged", "its twin's arm shown"]
        print_table(f"{result['split']}: alias shots kept out (%)", heads, rows)


@dataclass(frozen=True)
class Audit:
    """Check that alias shots look alike until the arm is released, and that a planner told the truth still saves."""

    split: str = "calibration"
    """Whose shots."""
    threads: Threads = None

    def run(self) -> dict[str, Any]:
        """Audit every stop of the dial, and let planner and idlers play."""
        from blindsave.policies.catalog import load
        from blindsave.policies.closed_loop import run
        from blindsave.task.outcomes import Outcome
        from blindsave.task.remember import HOLDS, audit, remembering
        from blindsave.task.shots import shots

        members, found = shots(self.split), []
        for hold in HOLDS:
            episodes = [remembering(hold).episode(shot) for shot in members]
            played = {name: run(load(name), episodes, threads=self.threads) for name in ("planner", "fixed_centre")}
            conceded = int((played["fixed_centre"].outcome == Outcome.GOAL_CONCEDED).sum())
            counts = {"planner_saved": int(played["planner"].saved.sum()), "fixed_centre_conceded": conceded}
            found.append({**audit(self.split, hold), "shots": len(members), **counts})
        return {"split": self.split, "holds": found, "passed": all(one["passed"] for one in found)}

    def show(self, result: dict[str, Any]) -> None:
        """Print one line per stop of the dial."""
        heads = ["hold", "pairs", "largest difference", "planner saves", "standing still concedes"]
        rows = [
            [f"{one['hold_ms']} ms", str(one["families"]), f"{one['max_difference']:g}"]
            + [f"{one[key]} of {one['shots']}" for key in ("planner_saved", "fixed_centre_conceded")]
            for one in result["holds"]
        ]
        print_table(f"{result['split']}: the memory task", heads, rows)
        print("passed" if result["passed"] else "alias shots can be told apart")
