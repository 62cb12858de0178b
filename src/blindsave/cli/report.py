"""The report: rebuild every table, figure and the page from a results folder."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blindsave.cli.shared import print_table, tell
from blindsave.cli.targets import OutFolder, refuse_unwritable
from blindsave.errors import BadFile, BadInput

RESULTS = Path("results")


@dataclass(frozen=True)
class Report:
    """Rebuild tables (Markdown, LaTeX, CSV), figures (SVG, PNG) and one self-contained HTML page from results alone."""

    results: Path | None = None
    """Folder of episode tables, efficiency files, ledger and plan (docs/report.md lists its files); by default the one
    called `results` here, or else the published results."""
    out: OutFolder | None = None
    """Where to write; default: the folder `report` inside the results, or here for the published ones."""
    record: bool = False
    """First play some failures again, from the shipped policies, and keep them in results/replays.json."""

    def run(self) -> dict[str, Any]:
        """Read, compute, draw, write."""
        from blindsave.report.build import build
        from blindsave.report.record import record_failures
        from blindsave.report.results import read_results

        results, out = self._places()
        if not results.is_dir():
            raise BadFile(f"there is no results folder {results}")
        refuse_unwritable(out, "folder")
        if self.record:
            tell("recording failures")
            record_failures(read_results(results))
        return build(results, out, tell=tell).to_dict()

    def _places(self) -> tuple[Path, Path]:
        """Where results are read and the report is written; nothing is written into an installed package."""
        from blindsave.verify.places import brought

        results = self.results or RESULTS
        if self.results is not None or results.is_dir():
            return results, self.out or results / "report"
        if self.record:
            raise BadInput("--record keeps failures beside results of your own; name them with --results")
        return brought() / RESULTS, self.out or Path("report")

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
