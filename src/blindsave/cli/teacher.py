"""Commands about the teacher: train it, validate its checkpoints, draw its curve and its beliefs, measure speed."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import tyro

from blindsave.cli.shared import Threads, at_least_one, print_table, tell
from blindsave.cli.targets import OutFile, OutFolder
from blindsave.errors import BadInput

DEFAULT_FOLDER = Path("runs/teacher")


@dataclass(frozen=True)
class Train:
    """Train the teacher (DreamerV3), or continue: the same command resumes from the last checkpoint."""

    folder: OutFolder = DEFAULT_FOLDER
    """The run's folder: configuration, metrics, checkpoints, replay (docs/teacher.md)."""
    stop_after_minutes: float | None = None
    """Stop cleanly after this long, with everything saved."""
    steps: int = 1_000_000
    """Environment steps, reset observations included."""
    envs: int = 32
    """Environments that run side by side."""
    train_ratio: int = 80
    """Replayed steps per environment step."""
    seed: int = 7303
    """Seed of parameters, exploration and replay draws."""
    population: int = 1
    """How many teachers train side by side in one program, with the seeds seed, seed + 1, ...; each has its own folder
    FOLDER/SEED for `validate`, `freeze` and `info`."""
    timeouts: Literal["truncate", "terminate"] = "truncate"
    """Whether values reach beyond the time limit (as in the original) or the limit is an end like any other (as the
    shipped teachers were trained)."""
    sampling_seed: int = 5303
    """Seed of shots and blackout lengths."""
    conditions: tuple[str, ...] = ("clean",)
    """What happens in the episodes besides blackouts, in equal shares, such as clean noise_5mm."""
    sampler: Literal["uniform", "mixture"] = "uniform"
    """How replay windows are drawn: as the published code does, or the mixture its configuration names."""
    latents: Literal["on_stop", "always", "never"] = "on_stop"
    """When the replay's latents (1 kB per step) go into a checkpoint; otherwise they are rebuilt on resuming."""
    threads: Threads = None
    sizes: str = "{}"
    """JSON overrides of the network sizes, such as '{"deter": 64}'."""
    learning: str = "{}"
    """JSON overrides of the objective, such as '{"batch": 4}'."""
    speed: str = "{}"
    """JSON overrides of the layout, such as '{"unroll": 8}'."""

    def run(self) -> dict[str, Any]:
        """Train until done or until the time is up."""
        from blindsave.learning.dreamer.run import train_teacher

        return train_teacher(
            self.folder,
            minutes=self.stop_after_minutes,
            steps=self.steps,
            envs=self.envs,
            train_ratio=self.train_ratio,
            seed=self.seed,
            sampling_seed=self.sampling_seed,
            sampler=self.sampler,
            timeouts=self.timeouts,
            population=self.population,
            conditions=self.conditions,
            latents=self.latents,
            threads=self.threads,
            sizes=parse_overrides("sizes", self.sizes),
            learning=parse_overrides("learning", self.learning),
            speed=parse_overrides("speed", self.speed),
        )

    def show(self, result: dict[str, Any]) -> None:
        """Print how far it got."""
        saved = result["summary"].get("saved")
        rate = "" if saved is None else f", {saved:.1%} of recent shots saved"
        print(f"{result['status']}: step {result['step']:,}, {result['updates']:,} updates{rate} -> {result['folder']}")


@dataclass(frozen=True)
class Validate:
    """Evaluate every kept checkpoint on paired episodes and name the winner; rows already known are kept."""

    folder: OutFolder = DEFAULT_FOLDER
    """The run's folder."""
    split: str = "validation"
    """Which shots."""
    mode: Literal["deterministic", "sampled", "both"] = "both"
    """Most probable latent and mean action, or both sampled (the original selected by sampled runs)."""
    minutes: float | None = None
    """Begin no further evaluation after this long."""
    threads: Threads = None

    def run(self) -> dict[str, Any]:
        """Evaluate and write the table into the folder."""
        from blindsave.learning.dreamer.run import validate_teacher
        from blindsave.learning.dreamer.validate import MODES

        if not self.folder.is_dir():
            raise BadInput(f"there is no run {self.folder}")
        modes = MODES if self.mode == "both" else (self.mode,)
        return validate_teacher(self.folder, split=self.split, modes=modes, minutes=self.minutes, threads=self.threads)

    def show(self, result: dict[str, Any]) -> None:
        """Print the table, winners marked."""
        lengths = list(result["rows"][0]["save_rate_by_length"])
        rows = []
        for row in result["rows"]:
            mark = " winner" if result["winner"].get(row["mode"]) == row["step"] else ""
            rates = [f"{row['save_rate_by_length'][k]:.1%}" for k in lengths]
            rows.append(
                [f"{row['step']:,}{mark}", row["mode"], f"{row['save_rate']:.2%}", *rates, f"{row['score']:.3f}"]
            )
        columns = ["step", "mode", "saves", *(f"L={k}" for k in lengths), "score"]
        print_table(f"split {result['split']}", columns, rows)


@dataclass(frozen=True)
class Freeze:
    """Freeze the selected checkpoint of a run into a teacher file that runs without JAX."""

    folder: Path = DEFAULT_FOLDER
    """The run's folder, with its validation table."""
    out: OutFile = Path("models/teacher/teacher.safetensors")
    """Where to write the teacher."""
    step: int | None = None
    """Freeze this checkpoint instead of the selected one."""

    def run(self) -> dict[str, Any]:
        """Select and write."""
        from blindsave.learning.dreamer.freeze import freeze

        return freeze(self.folder, self.out, self.step)

    def show(self, result: dict[str, Any]) -> None:
        """Say what was frozen."""
        print(f"step {result['step']:,} -> {result['file']} (SHA-256 {result['sha256'][:16]}...)")


@dataclass(frozen=True)
class Info:
    """Summarise a run: steps, updates, time, speed, and the selected checkpoint."""

    folder: Path | None = None
    """A run's folder; by default what was published of the shipped teacher's run."""

    def run(self) -> dict[str, Any]:
        """Read the run's files."""
        from blindsave.learning.dreamer.summary import summarise_run
        from blindsave.verify.places import shipped

        return summarise_run(self.folder or shipped() / "results" / "teacher")

    def show(self, result: dict[str, Any]) -> None:
        """Print the figures."""
        speed = f"{result['updates_per_s_median']:.0f} updates/s, {result['steps_per_s_median']:.0f} steps/s (medians)"
        print(f"{result['steps']:,} steps, {result['updates']:,} updates in {result['minutes']:.1f} min; {speed}")
        for mode, rates in result.get("validation", {}).items():
            by = ", ".join(f"L={k} {rate:.1%}" for k, rate in rates.items() if k != "all")
            print(f"selected step {result['selected']:,} of {result['checkpoints']}, {mode}: {rates['all']:.2%} ({by})")


@dataclass(frozen=True)
class Curve:
    """Draw a run's learning curve: save rate, losses, latents, behaviour."""

    folder: Path = DEFAULT_FOLDER
    """The run's folder; its validation table is drawn too if there is one."""
    out: OutFile | None = None
    """Picture to write (png, svg, pdf); learning_curve.png in the folder by default."""

    def run(self) -> dict[str, Any]:
        """Draw and write."""
        from blindsave.diagnostics.teacher_pictures import learning_curve
        from blindsave.draw import figure_files
        from blindsave.store import read_json

        path = self.folder / "validation.json"
        rows = read_json(path)["rows"] if path.exists() else []
        out = self.out or self.folder / "learning_curve.png"
        figure_files.save(lambda: learning_curve(self.folder, rows), out)
        return {"picture": str(out)}


@dataclass(frozen=True)
class Belief:
    """Draw what the world model believes about a hidden puck, imagined open-loop, against the truth."""

    params: tyro.conf.Positional[Path]
    """A parameter file of a run: FOLDER/params/STEP.safetensors."""
    out: OutFile
    """Picture to write (png, svg, pdf)."""
    split: str = "validation"
    """Which shots."""
    shots: int = 3
    """How many shots, from the beginning of the split."""
    steps: int = 20
    """How many steps to imagine."""

    def run(self) -> dict[str, Any]:
        """Imagine, compare, draw."""
        import numpy as np

        from blindsave.diagnostics import openloop
        from blindsave.diagnostics.teacher_pictures import open_loop
        from blindsave.draw import figure_files
        from blindsave.learning.dreamer.checkpoint import load_params
        from blindsave.task.conditions import grid
        from blindsave.task.shots import shots

        figure_files.check_name(self.out)  # before the work, not after
        params, config = load_params(self.params)
        chosen = shots(self.split)[: self.shots]
        predictions = openloop.predict(params, config, grid(chosen, (20,)), steps=self.steps)
        titles = [shot.id.split(":", 2)[-1] for shot in chosen]
        figure_files.save(lambda: open_loop(predictions, titles), self.out)
        errors = {t: float(np.nanmean(p.error_mm)) for t, p in zip(titles, predictions, strict=True) if p.share.any()}
        return {"picture": str(self.out), "mean_error_mm": errors}

    def show(self, result: dict[str, Any]) -> None:
        """Say where the picture is and how far off the beliefs are."""
        for name, error in result["mean_error_mm"].items():
            print(f"{name}: {error:.1f} mm on average")
        print(result["picture"])


@dataclass(frozen=True)
class BenchTrain:
    """Measure training speed: gradient updates per second of the teacher, or the students' transitions per second."""

    what: Literal["teacher", "students"] = "teacher"
    """What to train. Students are compared with the same training in JAX and in plain PyTorch, where
    installed; on an accelerator with this machine's CPU."""
    variants: str = "best,plain"
    """Layouts of the same arithmetic to compare in one run, the first being the reference of the ratios."""
    rounds: int = 5
    """Interleaved rounds; the median counts."""
    updates_per_call: int = 10
    """Gradient updates in one compiled call."""
    population: int = 1
    """Teachers side by side in one program; updates of all of them are counted."""

    def run(self) -> dict[str, Any]:
        """Measure."""
        from blindsave.store import provenance

        at_least_one(rounds=self.rounds, updates_per_call=self.updates_per_call, population=self.population)
        if self.what == "teacher":
            from blindsave.bench import teacher

            result = teacher.bench(
                self.variants.split(","),
                per_call=self.updates_per_call,
                rounds=self.rounds,
                population=self.population,
                report=tell,
            )
        else:
            from blindsave.bench import students

            result = students.bench(rounds=self.rounds, report=tell)
        return {**result, "measured_on": provenance()}

    def show(self, result: dict[str, Any]) -> None:
        """Print the variants, or the students' families, as a table."""
        title = f"{result['what']} on {result['device']}"
        if "variants" in result:
            keys = {"updates_per_s": "updates/s", "ratio_to_first": "ratio", "compile_s": "compile s"}
            rows = [[name, *(f"{row[key]:.2f}" for key in keys)] for name, row in result["variants"].items()]
            print_table(title, ["variant", *keys.values()], rows)
            return
        keys = {"times_jax": "x JAX", "times_torch": "x torch", "times_cpu": "x CPU"}
        rows = []
        for name, row in result["families"].items():
            ratios = (f"{row[key]:.1f}" if key in row else "-" for key in keys)
            rows.append([name, row["trainer"], f"{row['transitions_per_s']:.0f}", *ratios])
        print_table(title, ["family", "trainer", "transitions/s", *keys.values()], rows)
        if "collection" in result:
            share = result["collection"]["share_of_arena"]
            print(f"collection with shadow labels runs at {share:.0%} of the arena's speed")


def parse_overrides(name: str, text: str) -> dict[str, Any]:
    """Read a JSON object given as an option."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"--{name} is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise BadInput(f"--{name} must be a JSON object, got {text}")
    return value
