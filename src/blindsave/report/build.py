"""Build the report: every table in three formats, every figure in four files, one page."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blindsave.report import claims, sheets_contrasts, sheets_principal
from blindsave.report import sheets_misc as sheets_more
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
    from blindsave.report.figures.plates import plates
    from blindsave.report.page import page

    tell("reading tables")
    read = results if isinstance(results, Results) else read_results(results)
    tell("bootstrap")
    analysis = analyse(read, replicates)
    found = claims.findings(analysis)
    sheets = tables(analysis, found)
    folder = Path(out)
    tell("tables")
    written = {
        name: {kind: write_whole(folder / "tables" / f"{name}.{kind}", form(sheet)) for kind, form in FORMATS.items()}
        for name, sheet in sheets.items()
    }
    tell("figures")
    drawn = plates(analysis)
    figures = {plate.name: write(plate, folder / "figures") for plate in drawn}
    tell("page")
    document = write_whole(folder / "report.html", page(analysis, sheets, drawn, found))
    return Report(document, written, figures, found, analysis)


def tables(analysis: Analysis, found: list[Finding]) -> dict[str, Sheet]:
    """Every table the results allow, by name."""
    made: list[Sheet | None] = [claims.sheet(found), claims.comparison(analysis)]
    test = analysis.main
    if test is not None:
        table = analysis.results.tables[test.split]
        made += [
            sheets_principal.complete_comparison(analysis, test),
            sheets_principal.save_rates(test),
            sheets_principal.per_seed(test),
            sheets_principal.outcomes(test, table),
            sheets_principal.teacher_gaps(test),
            sheets_principal.action_errors(test, table),
            sheets_contrasts.contrasts(analysis, test),
            sheets_contrasts.power(analysis, test),
            sheets_contrasts.subgroups(test),
            sheets_contrasts.subgroup_contrasts(test, analysis.endpoint),
        ]
    one, other = analysis.splits.get("principal_test"), analysis.splits.get("sealed_test")
    if one is not None and other is not None:
        made.append(sheets_principal.sealed_beside_principal(one, other))
    if "validation" in analysis.splits and analysis.splits["validation"] is not test:
        made.append(sheets_principal.save_rates(analysis.splits["validation"], "validation-rates"))
    made += [
        sheets_contrasts.hypotheses(analysis.verdicts),
        sheets_more.memory_tests(analysis),
        sheets_more.costs(analysis),
        sheets_more.noise_rates(analysis),
        sheets_more.noise_contrasts(analysis),
        sheets_more.deviations(analysis),
        sheets_more.ledger(analysis.results),
        sheets_more.sources(analysis.results),
    ]
    return {sheet.name: sheet for sheet in made if sheet is not None and sheet.rows}


def _numbers(estimate: Any) -> dict[str, float | None]:
    return {"estimate": estimate.value, "low": estimate.low, "high": estimate.high}
