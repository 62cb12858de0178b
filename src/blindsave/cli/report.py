"""The report: rebuild every table, figure and the page from a results folder."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Report:
    """Rebuild tables (Markdown, LaTeX, CSV), figures (SVG, PNG) and one self-contained HTML page from results alone."""

    results: Path = Path("results")
    """Folder of episode tables, efficiency files, ledger and plan (docs/report.md lists its files)."""
    out: Path | None = None
    """Where to write; default: the folder `report` inside the results."""
    record: bool = False
    """First play some failures again, from the shipped policies, and keep them in results/replays.json."""

    def run(self) -> dict[str, Any]:
        """Read, compute, draw, write."""
        from blindsave.report.build import build
        from blindsave.report.record import record_failures
        from blindsave.report.results import read_results

        def tell(step: str) -> None:
            print(f"blindsave: report: {step}", file=sys.stderr)

        if self.record:
            tell("recording failures")
            record_failures(read_results(self.results))
        return build(self.results, self.out or self.results / "report", tell=tell).to_dict()

    def show(self, result: dict[str, Any]) -> None:
        """Print the verdicts and where everything is."""
        from rich.console import Console
        from rich.table import Table

        console = Console()
        table = Table("claim of the paper", "verdict", title="paper versus ours")
        for claim in result["claims"]:
            table.add_row(claim["sentence"].partition(":")[0], claim["verdict"])
        console.print(table)
        for failure in (result["verification"] or {}).get("failures", ()):
            console.print(f"FAILED {failure['file']}: {failure['reason']}", style="red", markup=False)
        for item in result["missing"]:
            console.print(f"not recorded yet: {item}", style="yellow", markup=False)
        figures = sum(map(len, result["figures"].values()))
        console.print(f"{len(result['tables'])} tables, {figures} figure files; the report: {result['page']}")
