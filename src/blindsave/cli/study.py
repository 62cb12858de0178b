"""Commands of the whole study: run it, see its progress, estimate its cost."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from blindsave.cli.shared import print_saves, print_table, tell
from blindsave.cli.targets import OutFolder, refuse_unwritable
from blindsave.errors import BadInput

HOME = Path("runs/study")
FOUND = 0.2
"""A stage that took less than this share of its estimate found its work done: it says nothing about the machine."""


@dataclass(frozen=True)
class Study:
    """Run the whole study, from shots to report; the same command continues after any interruption.

    A study is a preset (`--scale`) or a study file that names families, state sizes, training seeds, teachers,
    blackouts and disturbances (docs/study-files.md). `--plan` says what either takes before anything runs.
    """

    file: tyro.conf.Positional[Path | None] = None
    """A study file. Three lines make one: name = "sizes"; families = ["structured_k0", "gru"]; state_sizes = [16, 64].
    What it does not name is as in the preset it starts from (scale = "quick" unless it says otherwise)."""
    scale: Literal["smoke", "quick", "paper"] | None = None
    """How much of everything: smoke (a minute or two), quick (about five minutes on two cores, the default), paper."""
    folder: OutFolder | None = None
    """Where the study is kept; runs/study/SCALE or runs/study/NAME by default. Each of a file's teachers has a folder
    inside."""
    families: tuple[str, ...] = ()
    """Other families than the scale's; other sizes and widths are named like structured_k0_n32, gru_n16_e32_h16."""
    teacher: Path | None = None
    """Another teacher than the shipped one: a file, or the name of a policy that can teach, such as privileged."""
    train_teacher: bool = False
    """Train the teacher first (hours; a GPU helps)."""
    bring: Annotated[Path | None, tyro.conf.arg(name="import")] = None
    """Take trainings made elsewhere: an archive of `distil pack`, or a folder with students/ and dataset/; of several
    teachers, a folder with one of either per teacher (NAME.tar or NAME)."""
    until: str | None = None
    """Stop after this stage."""
    plan: bool = False
    """Only print what would be done: stages, tasks, exact episodes, CPU hours, wall time."""
    cores: int | None = None
    """Cores to plan for, where they are not this machine's."""
    threads: int | None = None
    """Threads of simulation in each task; by default workers share the cores equally. Results do not depend on it."""
    engine: Literal["workers", "here", "ray"] | None = None
    """Where tasks are done: by local worker processes (the default where there are two cores or more), in this process,
    or on Ray (extra `cluster`; docs/scale.md). Results do not depend on it."""
    workers: int | None = None
    """How many tasks at a time; by default one per core."""
    address: str | None = None
    """A Ray cluster to join, such as auto or HOST:6379; without it `--engine ray` starts one on this machine."""

    def run(self) -> dict[str, Any]:
        """Run what is not done yet."""
        from blindsave import study
        from blindsave.engine import open_engine
        from blindsave.policies.named import check_teacher
        from blindsave.stages.planning import refuse_other_plan
        from blindsave.stages.scales import scale_named
        from blindsave.stages.site import Site

        names = [stage.name for stage in study.METHOD]
        if self.until is not None and self.until not in names:
            raise BadInput(f"there is no stage `{self.until}`; stages: {', '.join(names)}")
        if self.file is not None:
            return self._run_file(self.file)
        if self.train_teacher and self.teacher is not None:
            raise BadInput("`--train-teacher` and `--teacher` do not go together")
        if self.teacher is not None:
            check_teacher("`--teacher`", self.teacher)
        scale = replace(scale_named(self.scale or "quick", self.families), train_teacher=self.train_teacher)
        if self.plan:
            return self._plan(scale)
        site = Site(self.folder or HOME / scale.name, scale, self.teacher, self.threads)
        refuse_unwritable(site.folder, "folder")
        refuse_other_plan(site)
        self._bring(site)
        with open_engine(self.engine, self.workers, self.address) as engine:
            return run_study(site, self.until, engine)

    def _run_file(self, path: Path) -> dict[str, Any]:
        """One study per teacher, one after the other, and a summary of all."""
        from blindsave.engine import open_engine
        from blindsave.stages.joint import keep, planned_contrasts, summarise
        from blindsave.stages.planning import refuse_other_plan
        from blindsave.stages.study_file import read_study_file

        for name in ("scale", "families", "teacher"):
            if getattr(self, name):
                raise BadInput(f"`--{name}` does not go with a study file: say it in {path}")
        file = read_study_file(path)
        if self.train_teacher:
            file = file.training_its_teacher()
        folder = self.folder or HOME / file.scale.name
        sites = file.sites(folder, threads=self.threads)
        if self.plan:
            return self._plan(file.scale, list(sites), file.warnings)
        refuse_unwritable(folder, "folder")
        for warning in file.warnings:
            tell(f"note: {warning}")
        for site in sites.values():
            refuse_other_plan(site)
        keep(file, folder, sites)
        found = {}
        with open_engine(self.engine, self.workers, self.address) as engine:
            for number, (name, site) in enumerate(sites.items(), 1):
                if len(sites) > 1:
                    tell(f"teacher {name} ({number} of {len(sites)}), in {site.folder}")
                self._bring(site, name)
                found[name] = run_study(site, self.until, engine) | {"contrasts": planned_contrasts(site)}
        summary = summarise(file, folder, found)
        return {"scale": file.scale.name, "folder": str(folder), "teachers": found, "summary": summary}

    def _plan(self, scale: Any, teachers: Sequence[str] = ("teacher",), warnings: Sequence[str] = ()) -> dict[str, Any]:
        from blindsave.cli.study_plan import planned

        return planned(scale, _cores(self.cores), teachers, warnings=warnings)

    def _bring(self, site: Any, teacher: str = "") -> None:
        if self.bring is not None:
            from blindsave.stages.importing import import_trainings, of_teacher

            source = of_teacher(self.bring, teacher)
            tell(f"{import_trainings(site, source)} files brought from {source}")

    def show(self, result: dict[str, Any]) -> None:
        """Print the plan, or the rates and where the report is."""
        if self.plan:
            from blindsave.cli.study_plan import show_plan

            show_plan(result)
            return
        studies = result.get("teachers", {"": result})
        for split in dict.fromkeys(split for one in studies.values() for split in one["save_rates"]):
            found = {name: one["save_rates"].get(split, {}) for name, one in studies.items()}
            several = len(studies) > 1
            print_saves(split, {f"{t}: {p}" if several else p: found[t][p] for t in found for p in found[t]})
        if len(studies) > 1 and result.get("summary"):
            for split, by_teacher in result["summary"]["contrasts"].items():
                _show_contrasts(split, by_teacher)
        for name, one in studies.items():
            if one["report"]:
                print(f"the report{f' of {name}' if len(studies) > 1 else ''}: {one['report']}")
        if result.get("summary"):
            print(f"all of it: {Path(result['folder']) / 'summary.json'}")


def run_study(site: Any, until: str | None = None, engine: Any = None) -> dict[str, Any]:
    """Run a study with a line per stage on standard error; returns what was run, what was skipped, and the report."""
    from blindsave import study
    from blindsave.stages.estimate import duration

    stages, rates, page, begun = [], {}, None, time.monotonic()
    guessed = real = guess = 0.0
    total = len(study.METHOD)
    for event in study.run(site, engine, until):
        number = total - len(event.left) + (event.what == "begun")
        head = f"[{number:2d}/{total}] {event.stage.name}"
        if event.what == "begun":
            # Later stages are corrected by how the earlier ones compared with their estimates.
            pace = real / guessed if guessed > 20 else 1.0
            left = pace * sum(one.seconds for one in event.left)
            guess = event.left[0].seconds
            tell(f"{head}: {event.stage.method} (about {duration(pace * guess)}; {duration(left)} left in all)")
            continue
        record = event.record or {}
        if event.what == "ran":
            if record["wall_s"] > FOUND * guess:
                guessed, real = guessed + guess, real + record["wall_s"]
            tell(f"{head}: done in {duration(record['wall_s'])}")
        else:
            tell(f"{head}: already done")
        stages.append({"stage": event.stage.name, "what": event.what, "wall_s": record["wall_s"]})
        for result in record["results"]:
            rates = result.get("save_rates", rates)
            if "page" in result:  # where it is now: the study may have been moved since
                page = str(site.results / "report" / Path(result["page"]).name)
    summary = {"scale": site.scale.name, "folder": str(site.folder), "stages": stages}
    return summary | {"save_rates": rates, "report": page, "wall_s": round(time.monotonic() - begun, 1)}


@dataclass(frozen=True)
class Status:
    """Show the progress of a study: every stage done, running, interrupted, failed, missing or damaged."""

    folder: tyro.conf.Positional[Path | None] = None
    """Study folder; by default the one last worked on below runs/study."""

    def run(self) -> dict[str, Any]:
        """Verify everything the stages made."""
        from blindsave import study
        from blindsave.stages.faults import read_faults
        from blindsave.stages.joint import study_folders

        folder = self.folder or _latest()
        found = [(name, one) for name, place in study_folders(folder).items() for one in study.status(place)]
        named = len(study_folders(folder)) > 1
        stages = [({"teacher": name} if named else {}) | one for name, one in found]
        faults = [fault for place in study_folders(folder).values() for fault in read_faults(place)]
        return {"folder": str(folder), "stages": stages, "faults": faults}

    def show(self, result: dict[str, Any]) -> None:
        """Print one line per stage."""
        rows = []
        for one in result["stages"]:
            said = one.get("reason") or (f"{one['wall_s']:.0f} s" if "wall_s" in one else "") or _tasks(one)
            stage = f"{one['teacher']}: {one['stage']}" if "teacher" in one else one["stage"]
            rows.append([stage, one["state"], said])
        print_table(result["folder"], ["stage", "state", ""], rows)
        if result["faults"]:
            last = result["faults"][-1]
            print(f"faults survived: {len(result['faults'])}; the last, in {last['stage']}: {last['what']}")


@dataclass(frozen=True)
class BenchStudy:
    """Measure a sample of every kind of work and estimate what each stage of a scale costs on this machine."""

    scale: Literal["smoke", "quick", "paper"] = "paper"
    """Which scale to cost."""
    episodes: int = 200
    """Episodes of each kind that are played and trained on."""
    cores: int | None = None
    """Cores to extrapolate to; this machine's by default. The measurement itself uses one."""
    results: Path = Path("results")
    """Results of a finished study: its `spent.json` says what it cost where it ran."""
    scaling: bool = False
    """Instead, measure evaluation and collection with 1, 2, 4, ... workers up to all cores."""
    rounds: int = 3
    """Rounds of `--scaling`, which alternate between numbers of workers."""

    def run(self) -> dict[str, Any]:
        """Measure on one core, extrapolate by counts."""
        if self.scaling:
            from blindsave.stages.scaling import bench_scaling

            return bench_scaling(self.rounds, tell)
        from blindsave import store
        from blindsave.cli.study_plan import planned
        from blindsave.stages.bench import measure_rates
        from blindsave.stages.scales import scale_named

        scale, cores = scale_named(self.scale), _cores(self.cores)
        rates = measure_rates(scale.families, self.episodes, tell)
        plan = planned(scale, cores, rates=rates)
        record = self.results / "spent.json"
        spent = store.read_json(record)["spent"] if record.is_file() else None
        return plan | {"rates_s": rates, "total_s": plan["total"]["seconds"], "spent": spent} | store.provenance()

    def show(self, result: dict[str, Any]) -> None:
        """Print the table, and what the finished study cost."""
        from blindsave.cli.study_plan import show_plan

        if self.scaling:
            found = [(kind, n, one) for kind, by_count in result["scaling"].items() for n, one in by_count.items()]
            rows = [[kind, n, f"{one['episodes_per_s']:.1f}", f"{one['efficiency']:.0%}"] for kind, n, one in found]
            print_table("scaling", ["work", "workers", "episodes/s", "efficiency"], rows)
            return
        show_plan(result)
        if result["spent"]:
            rows = [[r["work"], str(r["pieces"]), f"{r['wall_s']:.0f}", r["machine"]] for r in result["spent"]]
            print_table(f"what {self.results} cost", ["work", "pieces", "seconds", "machine"], rows)


def _tasks(stage: dict[str, Any]) -> str:
    """How far a stage is that is being worked on, or was."""
    if "tasks" not in stage:
        return ""
    done, of, running = (stage["tasks"][name] for name in ("done", "of", "running"))
    return f"{done} of {of} tasks done; begun: {', '.join(running) or 'none'}"


def _cores(given: int | None) -> int:
    """Cores that a plan is for; this machine's by default."""
    from blindsave.engine.machine import cores

    return given or cores()


def _latest() -> Path:
    found = [*HOME.glob("*/stages"), *HOME.glob("*/*/stages")]  # teachers of a study file have a folder each
    if not found:
        raise BadInput(f"there is no study below {HOME}; name its folder")
    newest = max(found, key=lambda path: path.stat().st_mtime)
    return HOME / newest.relative_to(HOME).parts[0]


def _show_contrasts(split: str, by_teacher: dict[str, Any]) -> None:
    """One row per planned difference, one column per teacher; the same pair the other way round is left out."""
    rows, shown = [], set()
    for same in zip(*by_teacher.values(), strict=True):
        if (same[0]["b"], same[0]["a"]) in shown:
            continue
        shown.add((same[0]["a"], same[0]["b"]))
        cells = [f"{100 * c['estimate']:+.1f} [{100 * c['low']:+.1f}, {100 * c['high']:+.1f}]" for c in same]
        rows.append([f"{same[0]['a']} - {same[0]['b']}", *cells])
    hidden = {c["blackout"] for contrasts in by_teacher.values() for c in contrasts}
    if rows:
        title = f"{split}: differences in points with 95 % intervals, puck hidden for {20 * hidden.pop()} ms"
        print_table(title, ["", *by_teacher], rows)
