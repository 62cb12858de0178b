"""The report: rebuild every table, figure and the page from a results folder."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blindsave.cli.shared import print_table, tell
from blindsave.cli.targets import OutFolder, refuse_unwritable
from blindsave.errors import BadFile


@dataclass(frozen=True)
class Report:
    """Rebuild tables (Markdown, LaTeX, CSV), figures (SVG, PNG) and one self-contained HTML page from results alone."""

    results: Path = Path("results")
    """Folder of episode tables, efficiency files, ledger and plan (docs/report.md lists its files)."""
    out: OutFolder | None = None
    """Where to write; default: the folder `report` inside the results."""
    record: bool = False
    """First play some failures again, from the shipped policies, and keep them in results/replays.json."""

    def run(self) -> dict[str, Any]:
        """Read, compute, draw, write."""
        from blindsave.report.build import build
        from blindsave.report.record import record_failures
        from blindsave.report.results import read_results

        out = self.out or self.results / "report"
        if not self.results.is_dir():
            raise BadFile(f"there is no results folder {self.results}")
        refuse_unwritable(out, "folder")
        if self.record:
            tell("recording failures")
            record_failures(read_results(self.results))
        return build(self.results, out, tell=tell).to_dict()

    def show(self, result: dict[str, Any]) -> None:
        """Print the verdicts and where everything is."""
        rows = [[claim["sentence"].partition(":")[0], claim["verdict"]] for claim in result["claims"]]
        print_table("paper versus ours", ["claim of the paper", "verdict"], rows)
        for failure in (result["verification"] or {}).get("failures", ()):
            print(f"FAILED {failure['file']}: {failure['reason']}")
        for item in result["missing"]:
            print(f"not recorded yet: {item}")
        figures = sum(map(len, result["figures"].values()))
        print(f"{len(result['tables'])} tables, {figures} figure files; the report: {result['page']}")
