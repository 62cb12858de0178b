"""The commands that run a study in other ways and look for a difference."""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from blindsave.cli.shared import at_least_one, tell
from blindsave.cli.targets import OutFolder


@dataclass(frozen=True)
class BenchResume:
    """Kill a study at random moments, continue it each time, and compare its end with an undisturbed one."""

    scale: Literal["smoke", "quick"] = "smoke"
    """Which study: smoke takes a few minutes, quick two to three times as long as `make study`."""
    kills: int = 10
    """How often it is killed (SIGKILL)."""
    seed: int = 0
    """Decides the moments."""
    folder: OutFolder | None = None
    """Where both studies are kept; by default they are removed afterwards. Finished ones there are used again."""

    def run(self) -> dict[str, Any]:
        """Run both, compare."""
        from blindsave import store
        from blindsave.stages.resilience import kill_and_compare

        at_least_one(kills=self.kills)
        with tempfile.TemporaryDirectory() as temporary:
            home = self.folder or Path(temporary)
            found = kill_and_compare(home, ["--scale", self.scale], self.kills, self.seed, tell)
        return {"scale": self.scale, **found, "measured_on": store.provenance()}

    def show(self, result: dict[str, Any]) -> None:
        """Say whether anything differs."""
        print(f"{result['scale']} study killed {result['kills']} times: {_verdict(result)}")


@dataclass(frozen=True)
class BenchEngines:
    """Run one study in this process, on local workers and on a local Ray, and compare what they end with."""

    scale: Literal["smoke", "quick"] = "smoke"
    """Which study: smoke takes a few minutes, quick three times as long as `make study`."""
    workers: int = 2
    """How many workers, local ones and Ray's."""
    folder: OutFolder | None = None
    """Where the studies are kept; by default they are removed afterwards. Finished ones there are used again."""

    def run(self) -> dict[str, Any]:
        """Run all, compare with the first."""
        from blindsave import store
        from blindsave.stages.resilience import engines_and_compare

        at_least_one(workers=self.workers)
        count = ["--workers", str(self.workers)]
        engines = [["--engine", "here"], ["--engine", "workers", *count], ["--engine", "ray", *count]]
        with tempfile.TemporaryDirectory() as temporary:
            home = self.folder or Path(temporary)
            found = engines_and_compare(home, ["--scale", self.scale], engines, tell)
        return {"scale": self.scale, **found, "measured_on": store.provenance()}

    def show(self, result: dict[str, Any]) -> None:
        """One line per engine."""
        for run in result["runs"]:
            print(f"{result['scale']} study, {run['engine']}, {run['wall_s']:.0f} s: {_verdict(run)}")


def _verdict(found: dict[str, Any]) -> str:
    verdict = "all equal" if found["equal"] else f"DIFFERENT: {', '.join(found['different'])}"
    return f"{found['files_compared']} files, {verdict}"
