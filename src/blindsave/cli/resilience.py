"""The command that kills a study on purpose."""

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from blindsave.errors import BadInput


@dataclass(frozen=True)
class BenchResume:
    """Kill a study at random moments, continue it each time, and compare its end with an undisturbed one."""

    scale: Literal["smoke", "quick"] = "smoke"
    """Which study: smoke takes a few minutes, quick two to three times as long as `make study`."""
    kills: int = 10
    """How often it is killed (SIGKILL)."""
    seed: int = 0
    """Decides the moments."""
    folder: Path | None = None
    """Where both studies are kept; by default they are removed afterwards. Finished ones there are used again."""

    def run(self) -> dict[str, Any]:
        """Run both, compare."""
        from blindsave import store
        from blindsave.stages.resilience import kill_and_compare

        if self.kills < 1:
            raise BadInput(f"--kills must be at least 1, got {self.kills}")

        def tell(line: str) -> None:
            print(line, file=sys.stderr, flush=True)

        with tempfile.TemporaryDirectory() as temporary:
            home = self.folder or Path(temporary)
            found = kill_and_compare(home, ["--scale", self.scale], self.kills, self.seed, tell)
        return {"scale": self.scale, **found, "measured_on": store.provenance()}

    def show(self, result: dict[str, Any]) -> None:
        """Say whether anything differs."""
        verdict = "all equal" if result["equal"] else f"DIFFERENT: {', '.join(result['different'])}"
        print(f"{result['scale']} study killed {result['kills']} times: {result['files_compared']} files, {verdict}")
