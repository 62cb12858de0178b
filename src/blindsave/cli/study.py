"""Commands of the whole study: run it, see how it stands, say what it costs."""

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from blindsave.errors import BadInput

HOME = Path("runs/study")


@dataclass(frozen=True)
class Study:
    """Run the whole study, from shots to report; the same command continues after any interruption."""

    scale: Literal["smoke", "quick", "paper"] = "quick"
    """How much of everything: smoke (a minute or two), quick (about ten minutes on two cores), paper."""
    folder: Path | None = None
    """Where the study is kept; runs/study/SCALE by default."""
    families: tuple[str, ...] = ()
    """Other families than the scale's."""
    teacher: Path | None = None
    """Another teacher file than the shipped one."""
    train_teacher: bool = False
    """Train the teacher first (hours; a GPU helps)."""
    bring: Annotated[Path | None, tyro.conf.arg(name="import")] = None
    """Take trainings made elsewhere: an archive of `distil ... pack`, or a folder with students/ and dataset/."""
    until: str | None = None
    """Stop after this stage."""
    plan: bool = False
    """Only say what would be done: stages, tasks, episodes, estimated time."""
    threads: int | None = None
    """Threads of simulation; all cores by default. Results do not depend on it."""

    def run(self) -> dict[str, Any]:
        """Run what is not done yet."""
        from blindsave import study
        from blindsave.stages.scales import scale_named
        from blindsave.stages.site import Site

        names = [stage.name for stage in study.METHOD]
        if self.until is not None and self.until not in names:
            raise BadInput(f"there is no stage `{self.until}`; stages: {', '.join(names)}")
        scale = scale_named(self.scale, self.families)
        if self.plan:
            return {"scale": self.scale, "plan": [one.to_dict() for one in study.plan(scale)]}
        folder = self.folder or HOME / self.scale
        site = Site(folder, scale, self.teacher, self.train_teacher, self.threads)
        if self.bring is not None:
            from blindsave.stages.distillation import bring

            print(f"{bring(site, self.bring)} files brought from {self.bring}", file=sys.stderr)
        return run_study(site, self.until)

    def show(self, result: dict[str, Any]) -> None:
        """Print the plan, or the rates and where the report is."""
        if self.plan:
            _show_plan(result)
            return
        for split, policies in result["save_rates"].items():
            _show_rates(split, policies)
        if result["report"]:
            print(f"the report: {result['report']}")


def run_study(site: Any, until: str | None = None) -> dict[str, Any]:
    """Run a study with a line per stage on standard error; returns what was run, what was skipped, and the report."""
    from blindsave import study
    from blindsave.stages.estimate import duration

    stages, rates, page, begun = [], {}, None, time.monotonic()
    guessed = real = guess = 0.0
    total = len(study.METHOD)
    for event in study.run(site, until=until):
        number = total - len(event.left) + (event.what == "begun")
        head = f"[{number:2d}/{total}] {event.stage.name}"
        if event.what == "begun":
            # Later stages are corrected by how the earlier ones compared with their estimates.
            pace = real / guessed if guessed > 20 else 1.0
            left = pace * sum(one.seconds for one in event.left)
            guess = event.left[0].seconds
            _tell(f"{head}: {event.stage.method} (about {duration(pace * guess)}; {duration(left)} left in all)")
            continue
        record = event.record or {}
        if event.what == "ran":
            guessed, real = guessed + guess, real + record["wall_s"]
            _tell(f"{head}: done in {duration(record['wall_s'])}")
        else:
            _tell(f"{head}: already done")
        stages.append({"stage": event.stage.name, "what": event.what, "wall_s": record["wall_s"]})
        for result in record["results"]:
            rates, page = result.get("save_rates", rates), result.get("page", page)
    summary = {"scale": site.scale.name, "folder": str(site.folder), "stages": stages}
    return summary | {"save_rates": rates, "report": page, "wall_s": round(time.monotonic() - begun, 1)}


@dataclass(frozen=True)
class Status:
    """Show how a study stands: every stage done, running, interrupted, failed, missing or damaged."""

    folder: tyro.conf.Positional[Path | None] = None
    """Study folder; by default the one last worked on below runs/study."""

    def run(self) -> dict[str, Any]:
        """Verify everything the stages made."""
        from blindsave import study

        folder = self.folder or _latest()
        return {"folder": str(folder), "stages": study.status(folder)}

    def show(self, result: dict[str, Any]) -> None:
        """Print one line per stage."""
        from blindsave.cli.evidence import print_table

        rows = []
        for one in result["stages"]:
            said = one.get("reason") or (f"{one['wall_s']:.0f} s" if "wall_s" in one else "")
            rows.append([one["stage"], one["state"], said])
        print_table(result["folder"], ["stage", "state", ""], rows)


@dataclass(frozen=True)
class BenchStudy:
    """Measure a sample of every kind of work and say what each stage of a scale costs on this machine."""

    scale: Literal["smoke", "quick", "paper"] = "paper"
    """Which scale to cost."""
    episodes: int = 200
    """Episodes of each kind that are played and trained on."""
    threads: int | None = None
    """Threads of simulation."""
    results: Path = Path("results")
    """Results of a finished study: its `spent.json` says what it cost where it ran."""

    def run(self) -> dict[str, Any]:
        """Measure, extrapolate by counts."""
        from blindsave import store, study
        from blindsave.stages.bench import measure_rates
        from blindsave.stages.scales import scale_named

        scale = scale_named(self.scale)
        rates = measure_rates(scale.families, self.episodes, self.threads, _tell)
        plan = [one.to_dict() for one in study.plan(scale, rates)]
        total = sum(one["seconds"] for one in plan)
        record = self.results / "spent.json"
        spent = store.read_json(record)["spent"] if record.is_file() else None
        summary = {"scale": self.scale, "rates_s": rates, "plan": plan, "total_s": round(total, 1), "spent": spent}
        return summary | store.provenance()

    def show(self, result: dict[str, Any]) -> None:
        """Print the table, and what the finished study cost."""
        from blindsave.cli.evidence import print_table

        _show_plan(result)
        if result["spent"]:
            rows = [[r["work"], str(r["pieces"]), f"{r['wall_s']:.0f}", r["machine"]] for r in result["spent"]]
            print_table(f"what {self.results} cost", ["work", "pieces", "seconds", "machine"], rows)


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _latest() -> Path:
    found = sorted(HOME.glob("*/stages"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise BadInput(f"there is no study below {HOME}; name its folder")
    return found[-1].parent


def _show_plan(result: dict[str, Any]) -> None:
    from blindsave.cli.evidence import print_table
    from blindsave.stages.estimate import duration

    rows = [
        [one["stage"], str(one["tasks"]), f"{one['episodes']:,}", f"{one['passes']:,}", duration(one["seconds"])]
        for one in result["plan"]
    ]
    sums = [sum(one[name] for one in result["plan"]) for name in ("tasks", "episodes", "passes", "seconds")]
    rows.append(["all", str(sums[0]), f"{sums[1]:,}", f"{sums[2]:,}", duration(sums[3])])
    title = f"{result['scale']} scale; training stops early where it can, so its passes and times are upper bounds"
    print_table(title, ["stage", "tasks", "episodes played", "episodes trained on", "time, about"], rows)


def _show_rates(split: str, policies: dict[str, Any]) -> None:
    from blindsave.cli.evidence import print_table

    first = next(iter(policies.values()))
    rows = [
        [name, *(f"{100 * cell['saves'] / cell['shots']:.1f}" for cell in cells.values())]
        for name, cells in policies.items()
    ]
    print_table(f"{split}: saves in %, by hidden control steps", ["policy", *first], rows)
