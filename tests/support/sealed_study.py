"""A tiny study that can be frozen and released in a temporary folder, played by a rule instead of a simulator."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pyarrow as pa

from blindsave.evidence import tables
from blindsave.evidence.freeze import Frozen, freeze
from blindsave.evidence.ledger import Ledger
from blindsave.evidence.plan import Plan, load_plan
from blindsave.evidence.release import Released, release
from blindsave.evidence.schedule import Schedule
from blindsave.policies import NamedPolicy
from blindsave.store import make, sha256_file

REPOSITORY = Path(__file__).parents[2]
FAMILIES = ("structured_k0", "gru_n64")
SEEDS = (14303, 14304)


class Study:
    """Everything a freeze binds, below one folder."""

    def __init__(self, root: Path):
        self.root = root
        self.code = root / "code"
        self.ledger = Ledger(root / "results" / "ledger.jsonl")
        self.manifest = root / "results" / "freeze.json"
        self.out = root / "results" / "test"
        self.work = root / "work"

    def prepare(self) -> "Study":
        """Write plan, checkpoints, tables and code."""
        text = (REPOSITORY / "protocol.toml").read_text()
        head, _, rest = text.partition("[contrasts]")
        _, _, tail = rest.partition("[freeze]")
        head = head.replace(
            head[head.index("families = [") : head.index("training_seeds")], f"families = {list(FAMILIES)}\n"
        )
        head = head.replace("[14303, 14304, 14305, 14306, 14307]", str(list(SEEDS)))
        head = head.replace("[0, 5, 10, 15, 20, 25]", "[0, 20]")
        head = head.replace('"structured_k0", "structured_k4", "gru_n64", "teacher"', '"structured_k0", "teacher"')
        claim = 'id="gru"\nstatement="equal"\nkind="equivalence"\na="gru_n64"\nb="structured_k0"\n'
        contrasts = '[contrasts]\nprimary = [["gru_n64", "structured_k0"]]\n\n[[hypotheses]]\n' + claim
        self._write("protocol.toml", f"{head}{contrasts}\n[freeze]{tail}")
        for family in FAMILIES:
            for seed in SEEDS:
                self._write(f"models/students/{family}/{seed}.safetensors", f"{family} {seed}")
        self._write("models/teacher/teacher.safetensors", "teacher")
        manifest = {"kind": "dataset", "configuration": {}, "inputs": {}, "files": {"a": {"sha256": "ab" * 32}}}
        self._write("results/datasets/base/manifest.json", json.dumps(manifest))
        players = [load(self.root / self.plan.checkpoint(*run), *run) for run in self.plan.runs]
        rows = play_by_rule(self.work, players, self.plan.grids["validation"].schedule())
        tables.write(rows, self.root / "results/validation/validation.parquet")
        self._write("results/efficiency/latency.json", "{}")
        self._write("code/arena/scene.py", "table = 1")
        self._write("code/cli/print.py", "not bound")
        return self

    @property
    def plan(self) -> Plan:
        return load_plan(self.root / "protocol.toml")

    def freeze(self) -> Frozen:
        """Freeze the study."""
        return freeze(self.plan, self.root, self.manifest, self.ledger, code=self.code)

    def release(self, play=None) -> Released:
        """Open the test."""
        return release(
            self.manifest,
            self.root,
            self.ledger,
            self.out,
            self.work,
            load=load,
            play=play or play_by_rule,
            code=self.code,
        )

    def noise(self) -> Path:
        """Play the noise grid, which comes after the release."""
        runs = [run for run in self.plan.runs if run[0] in self.plan.policies("noise_test")]
        players = [load(self.root / self.plan.checkpoint(*run), *run) for run in runs]
        rows = play_by_rule(self.work, players, self.plan.grids["noise_test"].schedule())
        return tables.write(rows, self.root / "results/noise/noise_test.parquet")

    def _write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def load(path: Path, policy: str, training_seed: int) -> NamedPolicy:
    """A policy that is only its file."""
    return NamedPolicy(policy, training_seed, None, sha256_file(path))


def play_by_rule(work: Path, contestants: list[NamedPolicy], schedule: Schedule) -> pa.Table:
    """Decide saves by hashing policy and episode; stored as one artifact per policy, as the real grid is."""
    parts, seeds = [], {}
    for one in contestants:
        seeds[one.family] = (*seeds.get(one.family, ()), one.training_seed)
        stored = make(
            work,
            "grid",
            {"policy": one.family, "training_seed": one.training_seed, "grid": schedule.describe()},
            {"policy": one.sha256},
            lambda folder, one=one: tables.write(_rows(one, schedule), folder / "episodes.parquet") and None,
        )
        parts.append(tables.read(stored.path("episodes.parquet")))
    return tables.concatenate(parts, tables.Expected(seeds, (schedule.layout,)))


def _rows(one: NamedPolicy, schedule: Schedule) -> pa.Table:
    layout = schedule.layout
    names = (f"{one.sha256}{layout.cell(place)}" for place in range(len(layout)))
    saved = np.array([hashlib.sha256(name.encode()).digest()[0] > 20 for name in names])
    labels = ["returned" if save else "goal_conceded" for save in saved]
    steps = np.full(len(saved), 30)
    return tables.rows(one.family, one.training_seed, layout, labels, saved, steps, steps - 10, saved * 1.2)
