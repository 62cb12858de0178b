"""Play failures again from the shipped policies and keep them beside the results."""

from pathlib import Path

import pyarrow as pa

from blindsave.errors import BadInput
from blindsave.policies import Policy, load
from blindsave.report import replays
from blindsave.report.results import REPLAYS, Results
from blindsave.task.shots import SPLITS, Shot, shots

SPLITS_TO_SHOW = ("principal_test", "sealed_test", "validation")


def record_failures(results: Results, per_policy: int = 2, load: replays.Load | None = None) -> Path:
    """Choose failures of the first test there is, play them again and write results/replays.json."""
    split = next((name for name in SPLITS_TO_SHOW if name in results.tables), None)
    if split is None:
        raise BadInput(f"there is no test table in {results.root} to take failures from")
    endpoint = results.plan.blackout if results.plan else 20
    scenes = replays.choose(_playable(results, split), endpoint, per_policy)
    if "noise_test" in results.tables:
        noisy = _playable(results, "noise_test")
        disturbed = [name for name in noisy["disturbance"].unique().to_pylist() if name != "clean"]
        shown = ["noise_5mm"] if "noise_5mm" in disturbed else disturbed[-1:]
        scenes += [scene for name in shown for scene in replays.choose(noisy, endpoint, 1, name)]
    known = {shot.id: shot for name in {scene.split for scene in scenes} for shot in _shots(results, name)}
    return replays.write(replays.record(scenes, load or shipped, known), results.root / REPLAYS)


def shipped(policy: str, training_seed: int) -> Policy:
    """A policy by its name and training seed in tables."""
    return load(f"{policy}/{training_seed}" if training_seed else policy)


def _playable(results: Results, split: str) -> pa.Table:
    """The rows of policies that are here; those of files left out cannot be played again."""
    table, absent = results.tables[split], results.verification.absent if results.verification else ()
    names, seeds = (table[column].to_pylist() for column in ("policy", "training_seed"))
    here = [f"{name}/{seed}" not in absent for name, seed in zip(names, seeds, strict=True)]
    return table.filter(pa.array(here)) if absent else table


def _shots(results: Results, split: str) -> tuple[Shot, ...]:
    """The shots of a split; those of the sealed test follow from the seed in the ledger."""
    if split in SPLITS:
        return shots(split)
    from blindsave.evidence.release import planned_sealed_shots, sealed_shots

    opening = next((entry for entry in reversed(results.entries) if entry.kind == "opening"), None)
    if opening is None:
        raise BadInput(f"the shots of {split} are unknown: the ledger has no opening")
    seed = opening.content["sealed_seed"]
    return sealed_shots(seed) if results.plan is None else planned_sealed_shots(results.plan, seed)
