"""Episode datasets: what a policy saw, what it asked for, and what the teacher would have asked for.

A dataset is an artifact folder (docs/distillation.md, "Dataset format"): shards of some hundred episodes and a
manifest with the SHA-256 of every file. Episodes lie one after another without padding.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindsave import store, tensors
from blindsave.errors import BadFile, BadInput
from blindsave.learning.distil.schedule import CollectionSchedule, draw
from blindsave.task.interface import ACTION_FLOATS, OBSERVATION_FLOATS, shown
from blindsave.task.outcomes import TIMEOUT_STEPS, Outcome
from blindsave.task.shots import shots

KIND = "dataset"
STEP_FIELDS = {"obs": ("<f4", OBSERVATION_FLOATS), "action": ("<f4", ACTION_FLOATS), "label": ("<f4", ACTION_FLOATS)}
EPISODE_FIELDS = {
    "index": "<i8",
    "seed": "<i8",
    "shot": "<i2",
    "blackout": "<i2",
    "steps": "<i2",
    "outcome": "i1",
    "first_contact": "<i2",
    "score": "<f8",
    "final_obs": "<f4",
}


@dataclass(frozen=True, eq=False)
class Episodes:
    """Episodes without padding: per step `obs` (n, 19), `action` and `label` (n, 2); per episode the rest.

    `action` is what the behaving policy requested, `label` what the teacher asked for there. Step t of episode i is
    row `offsets[i] + t`.
    """

    obs: NDArray[np.float32]
    action: NDArray[np.float32]
    label: NDArray[np.float32]
    index: NDArray[np.int64]
    seed: NDArray[np.int64]
    shot: NDArray[np.int16]
    blackout: NDArray[np.int16]
    steps: NDArray[np.int16]
    outcome: NDArray[np.int8]
    first_contact: NDArray[np.int16]
    score: NDArray[np.float64]
    final_obs: NDArray[np.float32]
    """What was seen after the last step, (episodes, 19)."""

    def __len__(self) -> int:
        return len(self.steps)

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """First row of every episode, and one past the last row of the last."""
        return np.concatenate([[0], np.cumsum(self.steps, dtype=np.int64)])

    @cached_property
    def first(self) -> NDArray[np.bool_]:
        """Which rows are first steps of episodes."""
        first = np.zeros(len(self.obs), bool)
        first[self.offsets[:-1]] = True
        return first

    @cached_property
    def previous(self) -> NDArray[np.float32]:
        """The previously requested action of every row: zero at the start of an episode."""
        previous = np.zeros_like(self.action)
        previous[1:] = self.action[:-1]
        previous[self.first] = 0.0
        return previous

    def rows(self, episode: int) -> slice:
        """The rows of one episode."""
        return slice(int(self.offsets[episode]), int(self.offsets[episode + 1]))

    def select(self, chosen: NDArray[np.bool_]) -> "Episodes":
        """The chosen episodes, in their order."""
        rows = np.repeat(chosen, self.steps)
        per_step = {name: np.asarray(getattr(self, name))[rows] for name in STEP_FIELDS}
        return Episodes(**per_step, **{name: getattr(self, name)[chosen] for name in EPISODE_FIELDS})


def concatenate(parts: Sequence[Episodes]) -> Episodes:
    """Several groups of episodes as one; their indices must differ."""
    joined = {name: np.concatenate([getattr(p, name) for p in parts]) for name in (*STEP_FIELDS, *EPISODE_FIELDS)}
    if len(np.unique(joined["index"])) != len(joined["index"]):
        raise BadInput("two groups of episodes share an episode index; give them different first indices")
    return Episodes(**joined)


class Dataset:
    """A dataset on disk; `episodes` maps it into memory."""

    def __init__(self, artifact: store.Artifact) -> None:
        if artifact.manifest["kind"] != KIND:
            raise BadFile(f"{artifact.folder} is an artifact of kind {artifact.manifest['kind']!r}, not a dataset")
        self.artifact = artifact

    @classmethod
    def open(cls, folder: str | Path, *, verify: bool = False) -> "Dataset":
        """Open a dataset folder, whatever it is called; with `verify` every byte is compared with the manifest."""
        return cls(store.open_artifact(folder, verify=verify, named=False))

    @property
    def sha256(self) -> str:
        """One hash over the content of all shards: equal episodes give equal hashes, whenever they were made."""
        return store.digest({name: entry["sha256"] for name, entry in self.artifact.manifest["files"].items()})

    @property
    def configuration(self) -> dict[str, Any]:
        """What was asked for: behaviour, schedule and so on."""
        return self.artifact.manifest["configuration"]

    @property
    def schedule(self) -> CollectionSchedule:
        """The schedule the episodes were drawn from."""
        return CollectionSchedule.described(self.configuration["schedule"])

    @property
    def shard_files(self) -> list[Path]:
        """The shards, in order."""
        return [self.artifact.folder / name for name in sorted(self.artifact.manifest["files"])]

    def shards(self) -> list[Episodes]:
        """Every shard, memory-mapped."""
        return [_episodes(path) for path in self.shard_files]

    @cached_property
    def episodes(self) -> Episodes:
        """All episodes as one."""
        return concatenate(self.shards())


def _episodes(path: Path) -> Episodes:
    fields = tensors.mapped(path)
    for name in (*STEP_FIELDS, *EPISODE_FIELDS):
        if name not in fields:
            raise BadFile(f"{path}: the field `{name}` is missing")
        kind = STEP_FIELDS[name][0] if name in STEP_FIELDS else EPISODE_FIELDS[name]
        if fields[name].dtype != np.dtype(kind):
            raise BadFile(f"{path}: the field `{name}` is {fields[name].dtype}, not {np.dtype(kind)}")
    rows = int(fields["steps"].sum())
    for name, (_, width) in STEP_FIELDS.items():
        if fields[name].shape != (rows, width):
            raise BadFile(f"{path}: the field `{name}` has shape {fields[name].shape}, not {(rows, width)}")
    for name in EPISODE_FIELDS:
        shape = (len(fields["steps"]), *((OBSERVATION_FLOATS,) if name == "final_obs" else ()))
        if fields[name].shape != shape:
            raise BadFile(f"{path}: the field `{name}` has shape {fields[name].shape}, not {shape}")
    return Episodes(**{name: fields[name] for name in (*STEP_FIELDS, *EPISODE_FIELDS)})


def check(dataset: Dataset) -> None:
    """Compare the content with what any dataset must satisfy; the first offence is a `BadFile`.

    Hashes are checked when the dataset is opened with `verify`; here it is the meaning: the schedule redrawn, labels
    and actions finite and within [-1, 1], lengths, outcomes.
    """
    data, schedule, where = dataset.episodes, dataset.schedule, dataset.artifact.folder
    drawn = draw(schedule)
    pairs = (
        ("index", schedule.indices),
        ("seed", schedule.seeds),
        ("shot", drawn.shot),
        ("blackout", drawn.blackout),
    )
    for name, expected in pairs:
        if not np.array_equal(getattr(data, name), expected):
            raise BadFile(f"{where}: `{name}` is not what the schedule gives")
    if data.steps.min() < 1 or data.steps.max() > TIMEOUT_STEPS:
        raise BadFile(f"{where}: an episode is empty or longer than {TIMEOUT_STEPS} steps")
    if not np.isin(data.outcome, [int(o) for o in Outcome if o is not Outcome.RUNNING]).all():
        raise BadFile(f"{where}: an episode has no outcome")
    for name in STEP_FIELDS:
        values = getattr(data, name)
        if not (np.isfinite(values).all() and np.abs(values).max() <= 1.0):
            raise BadFile(f"{where}: `{name}` holds a value outside [-1, 1]")


def summary(dataset: Dataset) -> dict[str, Any]:
    """Counts that describe a dataset, JSON-ready."""
    data = dataset.episodes
    pairs, counts = np.unique(np.stack([data.shot, data.blackout]), axis=1, return_counts=True)
    labels = {Outcome(code).label: int(n) for code, n in zip(*np.unique(data.outcome, return_counts=True), strict=True)}
    alias = np.array([shot.alias_family is not None for shot in shots(dataset.schedule.split)])
    return {
        "episodes": len(data),
        "transitions": len(data.obs),
        "mean_steps": float(data.steps.mean()),
        "longest": int(data.steps.max()),
        "distinct_pairs": int(pairs.shape[1]),
        "repeated_pairs": int((counts > 1).sum()),
        "episodes_of_repeated_pairs": int(counts[counts > 1].sum()),
        "without_blackout": int((data.blackout == 0).sum()),
        "alias_share": float(alias[data.shot].mean()),
        "hidden_share": float((~shown(data.obs)).mean()),
        "outcomes": labels,
    }


def audit_repeats(data: Episodes) -> tuple[int, int]:
    """(groups of episodes with equal shot and blackout, groups whose members are not byte-identical)."""
    groups: dict[tuple[int, int], list[int]] = {}
    for i, key in enumerate(zip(data.shot.tolist(), data.blackout.tolist(), strict=True)):
        groups.setdefault(key, []).append(i)
    repeated = [members for members in groups.values() if len(members) > 1]

    def content(i: int) -> tuple[bytes, ...]:
        return tuple(np.asarray(getattr(data, name)[data.rows(i)]).tobytes() for name in STEP_FIELDS)

    return len(repeated), sum(len({content(i) for i in members}) > 1 for members in repeated)
