"""Build the report: every table in three formats, every figure in four files, one page."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blindsave.report import claims, registry
from blindsave.report.analysis import Analysis, analyse
from blindsave.report.claims import Finding
from blindsave.report.results import Results, read_results
from blindsave.report.sheet import Sheet, comma_separated, latex, markdown
from blindsave.store import write_whole

FORMATS: dict[str, Callable[[Sheet], str]] = {"md": markdown, "tex": latex, "csv": comma_separated}
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Report:
    """Where everything was written, and what was found."""

    page: Path
    tables: dict[str, dict[str, Path]]
    figures: dict[str, list[Path]]
    findings: list[Finding]
    analysis: Analysis

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        verified = self.analysis.results.verification
        return {
            "page": str(self.page),
            "tables": {name: {kind: str(path) for kind, path in kinds.items()} for name, kinds in self.tables.items()},
            "figures": {name: [str(path) for path in paths] for name, paths in self.figures.items()},
            "claims": [
                {
                    "id": f.claim.id,
                    "verdict": f.verdict.text,
                    "paper": _numbers(f.claim.published),
                    "ours": None if f.ours is None else _numbers(f.ours),
                    "sentence": f.sentence,
                }
                for f in self.findings
            ],
            "ok": verified is None or verified.ok,
            "verification": None if verified is None else verified.to_dict(),
            "missing": list(self.analysis.results.missing),
            "deviations": [deviation.to_dict() for deviation in self.analysis.deviations],
        }


def build(
    results: str | Path | Results, out: str | Path, replicates: int | None = None, tell: Tell = lambda _: None
) -> Report:
    """Rebuild the report of a results folder into `out`; equal results give equal bytes."""
    from blindsave.report.figures.export import write
    from blindsave.report.page import page

    tell("reading tables")
    read = results if isinstance(results, Results) else read_results(results)
    tell("bootstrap")
    analysis = analyse(read, replicates)
    found = claims.findings(analysis)
    sheets = tables(analysis)
    folder = Path(out)
    tell("tables")
    written = {
        name: {kind: write_whole(folder / "tables" / f"{name}.{kind}", form(sheet)) for kind, form in FORMATS.items()}
        for name, sheet in sheets.items()
    }
    tell("figures")
    wanted = analysis.results.plan.figures if analysis.results.plan else ()
    drawn = list(registry.figures.made(analysis, wanted))
    figures = {plate.name: write(plate, folder / "figures", analysis.looks) for plate in drawn}
    tell("page")
    document = write_whole(folder / "report.html", page(analysis, sheets, drawn, found))
    return Report(document, written, figures, found, analysis)


def tables(analysis: Analysis) -> dict[str, Sheet]:
    """Every table the results allow, by name."""
    return {sheet.name: sheet for sheet in registry.tables.made(analysis) if sheet.rows}


def _numbers(estimate: Any) -> dict[str, float | None]:
    return {"estimate": estimate.value, "low": estimate.low, "high": estimate.high}
