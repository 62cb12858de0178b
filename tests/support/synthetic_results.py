"""A made-up results folder with the shape of a real one. Saves by seed are the paper's; everything else is invented."""

import functools
import shutil
import tomllib
from importlib.resources import files
from pathlib import Path

import numpy as np
from studies import TERMINATED

from blindsave import store
from blindsave.evidence import tables
from blindsave.evidence.ledger import Ledger
from blindsave.evidence.schedule import Layout, ShotRow
from blindsave.policies.scripted import FIXED_CENTRE, PRIVILEGED
from blindsave.report import replays
from blindsave.task.shots import shots

SEEDS = (14303, 14304, 14305, 14306, 14307)
LENGTHS = (0, 5, 10, 15, 20, 25)
PROTOCOL = TERMINATED / "protocol.toml"
"""The paper's questions by the paper's method."""
NOISE_RATES = {  # blackout/noise: percent
    "structured_k0": (98.6, 98.3, 98.4, 98.1, 98.0, 98.5),
    "structured_k4": (98.5, 98.6, 98.9, 97.6, 97.5, 94.5),
    "gru_n64": (99.4, 99.2, 97.9, 96.8, 96.8, 92.9),
    "teacher": (99.1, 99.1, 98.7, 97.3, 96.9, 96.0),
}
MEMORY_RATES = {
    "teacher": (99.6, 100, 98.2, 96.9, 96.0),
    "teacher_reset": (99.6, 58.2, 49.3, 49.8, 50.2),
    "ppo": (90.7, 80.4, 61.8, 17.8, 33.3),
}

MEMORY_PAIRS = {"state_reset": ("teacher", "teacher_reset"), "memoryless": ("teacher", "ppo")}


@functools.cache
def published() -> dict:
    return tomllib.loads(files("blindsave.report").joinpath("published.toml").read_text(encoding="utf-8"))


def rows_of(split: str, rename: str | None = None) -> tuple[ShotRow, ...]:
    found = (ShotRow(s.id, s.alias_family, s.unit, s.launch_region, s.target_region) for s in shots(split))
    if rename is None:
        return tuple(found)
    return tuple(
        ShotRow(
            *(None if part is None else part.replace("principal_test", rename) for part in row[:3]),
            *row[3:],
        )
        for row in found
    )


class Maker:
    """Draws saves: easy shots are saved by all, failures fall on hard shots, and more so on support shots."""

    def __init__(self, seed: int):
        self.rng = np.random.default_rng(seed)
        self.hardness: dict[str, float] = {}

    def saved(self, layout: Layout, counts: dict[tuple[int, str], int], alias_share: float) -> np.ndarray:
        grid = np.ones((len(layout.shots), len(layout.blackouts), len(layout.disturbances)), bool)
        alias = np.array([shot.alias_family is not None for shot in layout.shots])
        hard = np.array([self.hardness.setdefault(s.unit, float(self.rng.random())) for s in layout.shots])
        for b, blackout in enumerate(layout.blackouts):
            for d, disturbance in enumerate(layout.disturbances):
                failures = len(layout.shots) - counts[blackout, disturbance]
                luck = hard + self.rng.normal(0, 0.25, len(hard)) - np.where(alias, 1.2 - alias_share, 0.0)
                grid[np.argsort(-luck)[:failures], b, d] = False
        return grid.reshape(-1)

    def rows(self, policy: str, seed: int, layout: Layout, counts: dict[tuple[int, str], int], alias_share: float):
        saved = self.saved(layout, counts, alias_share)
        kinds = np.where(saved, np.where(self.rng.random(len(saved)) < 0.99, "returned", "arrested"), "goal_conceded")
        late = ~saved & (self.rng.random(len(saved)) < 0.5)
        kinds = np.where(late, "timeout_after_contact", kinds)
        steps = np.where(late, 125, self.rng.integers(35, 60, len(saved)))
        reward = np.where(saved, 1.2, np.where(late, 0.2, -0.8))
        return tables.rows(policy, seed, layout, kinds.tolist(), saved, steps, np.full(len(saved), 25), reward)


def principal_like(split: str, seed: int, lengths: tuple[int, ...] = LENGTHS, policies: tuple[str, ...] = ()):
    members = rows_of("principal_test", split) if split == "sealed_test" else rows_of(split)
    layout = Layout(split, members, lengths, ("clean",))
    make, parts = Maker(seed), []
    for policy, cells in published()["saves_by_seed"].items():
        if policies and policy not in policies:
            continue
        seeds = (0,) if policy == "teacher" else SEEDS
        share = {"feed_forward": 1.0, "finite_stack_10": 0.55, "gru_n64": 0.3}.get(policy, 0.0)
        for i, training_seed in enumerate(seeds):
            shift = 0 if split == "principal_test" else int(make.rng.integers(-2, 3))
            counts = {(n, "clean"): int(np.clip(cells[str(n)][i] + shift, 0, 225)) for n in lengths}
            parts.append(make.rows(policy, training_seed, layout, counts, share))
    return tables.concatenate(parts)


def noise_table():
    layout = Layout("noise_test", rows_of("noise_test"), (0, 20), ("clean", "noise_1mm", "noise_5mm"))
    make, parts = Maker(5), []
    conditions = [(n, d) for n in layout.blackouts for d in layout.disturbances]
    for policy, rates in NOISE_RATES.items():
        for seed in (0,) if policy == "teacher" else SEEDS:
            counts = {
                c: min(225, round(2.25 * r + make.rng.normal(0, 1))) for c, r in zip(conditions, rates, strict=True)
            }
            parts.append(make.rows(policy, seed, layout, counts, 0.6))
    return tables.concatenate(parts)


def memory_table(pair: tuple[str, str]):
    layout = Layout("test", rows_of("test"), LENGTHS[:5], ("clean",))
    make, parts = Maker(6), []
    for policy in pair:
        rates = MEMORY_RATES[policy]
        counts = {(n, "clean"): round(2.25 * r) for n, r in zip(layout.blackouts, rates, strict=True)}
        parts.append(make.rows(policy, 14304 if policy == "ppo" else 0, layout, counts, 1.0))
    return tables.concatenate(parts)


def latency_document() -> dict:
    medians = {"feed_forward": 0.9, "finite_stack_10": 1.0, "structured_k0": 1.32, "structured_k1": 1.36}
    medians |= {"structured_k2": 1.37, "structured_k4": 1.40, "gru_n64": 2.61}
    rng = np.random.default_rng(8)
    families = {}
    for name, median in medians.items():
        by_seed = {str(seed): round(float(median * rng.normal(1, 0.01)), 4) for seed in SEEDS}
        middle = float(np.median(list(by_seed.values())))
        families[name] = {"python_us": middle, "python_p95_us": round(middle * 1.02, 4), "python_us_by_seed": by_seed}
        families[name] |= {"native_us": round(middle * 0.55, 4), "numpy_us": round(middle * 14, 3)}
    return {"families": families, "machine": {"cpu": "Imaginary CPU 1", "cores": 2}}


def ledger(path: Path) -> None:
    book = Ledger(path)
    book.append("freeze", {"freeze_sha256": "ab" * 32, "plan_sha256": store.sha256_file(PROTOCOL)})
    book.append(
        "opening", {"freeze_sha256": "ab" * 32, "sealed_seed": 123456789, "grids": {"principal_test": "cd" * 32}}
    )
    book.append("results", {"freeze_sha256": "ab" * 32, "tables": {"principal_test": "ef" * 32}})


def replay_document(scenes: int = 2) -> dict:
    """Two real episodes per scene: a rule that stands still and one that knows the truth, on calibration shots."""
    members = {shot.id: shot for shot in shots("calibration")}
    ends = {"fixed_centre": FIXED_CENTRE, "privileged": PRIVILEGED}
    chosen = [shot for shot in members if ":alias:00" in shot][:scenes]
    made = [
        replays.Scene(
            "Stands still, goal conceded, 400 ms",
            "calibration",
            20,
            "clean",
            (
                replays.Lane("fixed_centre", 0, shot, "goal_conceded"),
                replays.Lane("privileged", 0, shot, "returned"),
            ),
        )
        for shot in chosen
    ]
    return replays.record(made, lambda name, _: ends[name], members)


def write(folder: Path, parts: str = "all") -> Path:
    """Write the folder; `parts` "quick" is a small study without noise, memory tests, ledger and plan."""
    folder.mkdir(parents=True, exist_ok=True)
    if parts == "quick":
        few = ("feed_forward", "finite_stack_10", "structured_k0", "gru_n64", "teacher")
        tables.write(principal_like("validation", 3, (0, 10, 20), few), folder / "validation" / "grid.parquet")
        return folder
    tables.write(principal_like("principal_test", 1), folder / "test" / "principal_test.parquet")
    tables.write(principal_like("sealed_test", 2), folder / "test" / "sealed_test.parquet")
    tables.write(principal_like("validation", 3, LENGTHS[:5]), folder / "validation" / "grid.parquet")
    tables.write(noise_table(), folder / "noise" / "noise_test.parquet")
    for name, pair in MEMORY_PAIRS.items():
        tables.write(memory_table(pair), folder / "memory" / f"{name}.parquet")
    store.write_json(folder / "efficiency" / "latency.json", latency_document())
    shutil.copy(PROTOCOL, folder / "protocol.toml")
    ledger(folder / "ledger.jsonl")
    replays.write(replay_document(), folder / "replays.json")
    (folder / "deviations.md").write_text("The synthetic study was never run.\n", encoding="utf-8")
    return folder
