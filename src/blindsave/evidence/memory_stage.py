"""Play what the memory tests need, write their tables, and judge: the stage behind `blindsave memory-test`.

Grids are artifacts: what was played before is read, not played again. The order is the rule: the memoryless control is
selected and qualified on validation shots, and only then does the `test` split open for it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from blindsave.errors import BadInput
from blindsave.evidence import memory, tables
from blindsave.evidence.grid import Progress, grid
from blindsave.evidence.saves import saves
from blindsave.evidence.schedule import Schedule, schedule
from blindsave.evidence.summaries import saves_by_seed
from blindsave.policies.catalog import CONTROL, NamedPolicy, control_files, from_file, models_folder
from blindsave.policies.reset import ResetAt
from blindsave.store import digest, write_json
from blindsave.task.shots import shots

VISIBLE = (0,)
SELECTION_SPLIT, TEST_SPLIT = "validation", "test"


def controls(folder: Path | None = None) -> list[NamedPolicy]:
    """The memoryless controls of a folder (default: the shipped ones), by training seed."""
    found = [from_file(path) for path in control_files(folder)]
    for one in found:
        if not one.training_seed:
            raise BadInput(f"{one.file} holds the policy {one.name}, which has no training seed")
        if one.policy.initial(1).size:
            raise BadInput(f"{one.file} holds the policy {one.name}, which has a memory and is no memoryless control")
    if not found:
        raise BadInput(f"{folder or models_folder() / CONTROL} holds no PPO policy; `blindsave ppo train` makes them")
    return found


def with_reset(named: NamedPolicy) -> NamedPolicy:
    """The same policy, made to forget when the puck disappears."""
    policy = ResetAt(named.policy)
    sha256 = digest({"reset_at": policy.reset_step, "policy": named.sha256})
    return NamedPolicy(f"{named.family}_reset", named.training_seed, policy, sha256)


class MemoryStage:
    """Where grids are kept, how they are played, and which shots (all of the study's, unless a test takes fewer)."""

    def __init__(
        self,
        root: Path,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
        shots_per_split: int | None = None,
    ) -> None:
        self.root, self.threads, self.progress = root, threads, progress
        self.shots_per_split = shots_per_split

    def schedule(self, split: str, blackouts: Sequence[int]) -> Schedule:
        """The grid of a split."""
        return schedule(split, blackouts, members=shots(split)[: self.shots_per_split])

    def play(self, policies: Sequence[NamedPolicy], split: str, blackouts: Sequence[int]) -> pa.Table:
        """The checked table of some policies over a grid."""
        chosen = self.schedule(split, blackouts)
        return grid(self.root, policies, chosen, threads=self.threads, progress=self.progress)

    def select(self, candidates: Sequence[NamedPolicy], teacher: NamedPolicy | None, out: Path) -> memory.Selection:
        """Play the visible validation shots and choose; the table goes to `validation.parquet`."""
        table = self.play([*candidates, *([teacher] if teacher else [])], SELECTION_SPLIT, VISIBLE)
        tables.write(table, out / "validation.parquet")
        return memory.select(table, candidates[0].family, teacher.family if teacher else None)

    def choose(self, candidates: Sequence[NamedPolicy], teacher: NamedPolicy) -> NamedPolicy | None:
        """The control that `run` will choose, if it qualifies; nothing is written."""
        table = self.play([*candidates, teacher], SELECTION_SPLIT, VISIBLE)
        selection = memory.select(table, candidates[0].family, teacher.family)
        return _chosen(selection, candidates) if selection.qualified else None

    def evaluate(self, candidates: Sequence[NamedPolicy], out: Path) -> dict[str, Any]:
        """The memoryless control alone: selection, and every seed on the test grid if the chosen one qualifies."""
        selection = self.select(candidates, None, out)
        result: dict[str, Any] = {"selection": selection.to_dict(), "saves": None}
        if selection.qualified:
            table = self.play(candidates, TEST_SPLIT, memory.LENGTHS)
            tables.write(table, out / "test.parquet")
            result["saves"] = _counts(table, candidates[0].family)
        write_json(out / "summary.json", result)
        return result

    def state_reset(self, teacher: NamedPolicy, out: Path) -> memory.MemoryTest:
        """The teacher with and without its memory; the table goes to `state_reset.parquet`."""
        table = self.play([teacher, with_reset(teacher)], TEST_SPLIT, memory.LENGTHS)
        tables.write(table, out / "state_reset.parquet")
        return memory.state_reset(table, teacher.family)

    def memoryless(self, teacher: NamedPolicy, chosen: NamedPolicy, out: Path) -> memory.MemoryTest:
        """The teacher against the selected control; the table goes to `memoryless.parquet`."""
        table = self.play([teacher, chosen], TEST_SPLIT, memory.LENGTHS)
        tables.write(table, out / "memoryless.parquet")
        return memory.memoryless(table, teacher.family, chosen.family)

    def run(self, teacher: NamedPolicy, candidates: Sequence[NamedPolicy], out: Path) -> dict[str, Any]:
        """Both memory tests, and `memory.json` with everything said about them."""
        reset = self.state_reset(teacher, out)
        selection = self.select(candidates, teacher, out)
        control = None
        if selection.qualified:
            control = self.memoryless(teacher, _chosen(selection, candidates), out)
        result = {
            "teacher": {"policy": teacher.name, "sha256": teacher.sha256},
            "state_reset": reset.to_dict(),
            "selection": selection.to_dict(),
            "memoryless": control.to_dict() if control else None,
            "figure": memory.figure_data(reset, control),
            "passed": reset.passed and control is not None and control.passed,
        }
        write_json(out / "memory.json", result)
        return result


def _chosen(selection: memory.Selection, candidates: Sequence[NamedPolicy]) -> NamedPolicy:
    seed = selection.chosen.training_seed
    return next(one for one in candidates if one.training_seed == seed)


def _counts(table: pa.Table, policy: str) -> dict[str, dict[str, dict[str, int]]]:
    """`[seed][length]` -> saves and shots."""
    dense = saves(table)
    by_length = saves_by_seed(dense)[policy]
    count = len(dense.shot_ids)
    return {
        str(seed): {str(length): {"saves": row[str(seed)], "shots": count} for length, row in by_length.items()}
        for seed in dense.seeds[policy]
    }
