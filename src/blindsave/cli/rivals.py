"""Commands about the classical rivals."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

from blindsave.cli.shared import at_least_one, print_table
from blindsave.cli.targets import OutFile, OutFolder


@dataclass(frozen=True)
class Tune:
    """Measure the arm, fit the kinds of shots and tune planner and filters, on train shots alone."""

    out: OutFile = Path("settings.json")
    """Where the settings go; the shipped ones are src/blindsave/policies/classical/settings.json."""
    every: int = 1
    """Take every n-th shot only, for a quick look."""

    def run(self) -> dict[str, Any]:
        """Tune, and write the settings with their record."""
        from blindsave.learning.rivals import tune
        from blindsave.store import write_json

        at_least_one(every=self.every)
        found = tune(lambda said: print(said, file=sys.stderr), self.every)
        write_json(self.out, found)
        return {"file": str(self.out), **found}

    def show(self, result: dict[str, Any]) -> None:
        """Print every candidate and what it saved."""
        record = result["record"]
        for name in ("planner", "kalman", "kalman_gated"):
            trials, conditions = record[name]["trials"], record[name]["conditions"]
            heads = [key for key in trials[0] if key != "saves"]
            rows = [[*(f"{trial[key]:g}" for key in heads), *map(str, trial["saves"])] for trial in trials]
            print_table(f"{name}: saves by condition", [*heads, *conditions], rows)
        print(f"settings: {result['file']}")


@dataclass(frozen=True)
class Figure:
    """Draw save rates by noise level from a table of `blindsave evaluate ... --noise-mm 0,1,2,5,10`."""

    table: tyro.conf.Positional[Path]
    """An episode table (Parquet) of one split with at least two noise levels."""
    out: OutFolder = Path("out")
    """Folder for rivals.svg and rivals.png, on white and on dark ground."""

    def run(self) -> dict[str, Any]:
        """Read, compute intervals, draw."""
        from blindsave.evidence import tables
        from blindsave.report.figures.export import write
        from blindsave.report.figures.rivals import noise_result, rivals_by_noise

        plate, looks = rivals_by_noise(noise_result(tables.read(self.table)))
        return {"files": [str(path) for path in write(plate, self.out, looks)]}
