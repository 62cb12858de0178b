"""Commands about the classical rivals."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blindsave.cli.shared import at_least_one, print_table
from blindsave.cli.targets import OutFile


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
