"""Commands about memory: train and evaluate the memoryless control, and run the memory tests."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from blindsave.cli.shared import Threads, print_table
from blindsave.cli.targets import OutFile, OutFolder
from blindsave.errors import BadInput
from blindsave.progress import Progress


@dataclass(frozen=True)
class PPOTrain:
    """Train the memoryless PPO control, one seed after the other, and export the actors."""

    seeds: tuple[int, ...] = (14303, 14304, 14305)
    """Training seeds."""
    steps: int = 1_000_000
    """Environment steps per seed."""
    folder: OutFolder = Path("runs/ppo")
    """Checkpoints and metrics; the same command continues a run that was interrupted."""
    out: OutFolder = Path("models/ppo")
    """Where the actors go, as SEED.safetensors."""
    curve: OutFile | None = None
    """Write the learning curves of all seeds to this Parquet file."""

    def run(self) -> dict[str, Any]:
        """Train what is not trained yet."""
        if not self.seeds or len(set(self.seeds)) != len(self.seeds) or self.steps < 1:
            raise BadInput("PPO training needs distinct seeds and at least one step")
        from blindsave.learning import ppo
        from blindsave.store import sha256_file

        trained = {}
        for seed in self.seeds:
            config = ppo.PPOConfig(seed=seed, steps=self.steps)
            with Progress(f"ppo/{seed}", self.steps) as bar:
                model = ppo.train(config, self.folder / str(seed), partial(_tell, bar))
            path = self.out / f"{seed}.safetensors"
            ppo.policy_of(model, config).write(path)
            trained[str(seed)] = {"steps": model.num_timesteps, "file": str(path), "sha256": sha256_file(path)}
        if self.curve:
            ppo.write_curve(self.curve, {seed: self.folder / str(seed) for seed in self.seeds})
        return {"seeds": trained, "curve": str(self.curve) if self.curve else None}

    def show(self, result: dict[str, Any]) -> None:
        """Print one line per seed."""
        for seed, row in result["seeds"].items():
            print(f"ppo/{seed}: {row['steps']} steps, {row['file']}")


@dataclass(frozen=True)
class PPOEvaluate:
    """Select the memoryless control on validation shots and, if it qualifies, play every seed on the test split."""

    models: Path | None = None
    """Folder of actors (default: the shipped ones)."""
    out: OutFolder = Path("results/ppo")
    """Where the episode tables and summary.json go."""
    grids: OutFolder = Path("runs/grids")
    """Where played grids are kept; they are never played twice."""
    threads: Threads = None

    def run(self) -> dict[str, Any]:
        """Play 225 validation and 1,125 test episodes per seed."""
        from blindsave.evidence.memory_stage import MemoryStage, controls

        stage = MemoryStage(self.grids, threads=self.threads)
        return {**stage.evaluate(controls(self.models), self.out), "tables": str(self.out)}

    def show(self, result: dict[str, Any]) -> None:
        """Print saves by seed and blackout length."""
        selection, saves = result["selection"], result["saves"] or {}
        lengths = list(next(iter(saves.values()), {}))
        rows = []
        for one in selection["candidates"]:
            seed = str(one["training_seed"])
            chosen = " selected" if one["training_seed"] == selection["selected"] else ""
            rates = [f"{100 * cell['saves'] / cell['shots']:.1f} %" for cell in saves.get(seed, {}).values()]
            rows.append([f"{seed}{chosen}", f"{100 * one['rate']:.1f} %", *(rates or ["-"] * len(lengths))])
        columns = ["seed", "validation, visible", *(f"test, {length} hidden" for length in lengths)]
        print_table("memoryless control: saves", columns, rows)
        if not selection["qualified"]:
            print("no seed qualifies: the test split stays closed")


@dataclass(frozen=True)
class MemoryTest:
    """Test whether the task needs memory: erase the teacher's, and compare it with policies that have none."""

    teacher: str = "teacher"
    """The recurrent policy: `teacher`, FAMILY/SEED or a policy file."""
    models: Path | None = None
    """Folder of PPO actors (default: the shipped ones)."""
    out: OutFolder = Path("results/memory")
    """Where the episode tables and memory.json go."""
    grids: OutFolder = Path("runs/grids")
    """Where played grids are kept; they are never played twice."""
    threads: Threads = None
    shots: int | None = None
    """Play only the first shots of each split (a trial, not the study)."""

    def run(self) -> dict[str, Any]:
        """Play and judge both tests."""
        from blindsave.evidence.memory_stage import MemoryStage, controls
        from blindsave.policies import resolve

        teacher = resolve(self.teacher)
        candidates = controls(self.models)
        stage = MemoryStage(self.grids, threads=self.threads, shots_per_split=self.shots)
        return {**stage.run(teacher, candidates, self.out), "tables": str(self.out)}

    def show(self, result: dict[str, Any]) -> None:
        """Print both paired tables and the checks."""
        for name in ("state_reset", "memoryless"):
            if result[name] is None:
                failed = [check for check, held in result["selection"]["checks"].items() if not held]
                print(f"no memoryless control qualifies ({', '.join(failed)}): the comparison stays closed")
                continue
            _show_test(name, result[name])
            for check, held in result[name]["checks"].items():
                print(f"  {'holds' if held else 'FAILS'}  {check.replace('_', ' ')}")


def _show_test(name: str, test: dict[str, Any]) -> None:
    a, b = test["a"], test["b"]
    rows = []
    for row in test["rows"]:
        estimate, low, high = (f"{100 * row['difference'][key]:.1f}" for key in ("estimate", "low", "high"))
        rates = [f"{100 * row[key]['estimate']:.1f} %" for key in ("rate_a", "rate_b")]
        only = f"{row['only_a']} / {row['only_b']}"
        rows.append([str(row["blackout"]), *rates, estimate, f"[{low}, {high}]", only])
    title = f"{name.replace('_', ' ')}: {test['split']} split, {test['rows'][0]['shots']} shots per length"
    columns = ["hidden steps", a, b, "difference, points", "95 % interval", f"only {a} / only {b}"]
    print_table(title, columns, rows)


def _tell(bar: Progress, row: dict[str, Any]) -> None:
    saved = "-" if row["save_rate"] is None else f"{100 * row['save_rate']:.0f} %"
    bar.at(row["steps"], f"{saved} saved, {row['steps_per_s']:.0f} steps/s")
