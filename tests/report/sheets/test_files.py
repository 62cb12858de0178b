"""The table of the files behind a report."""

from dataclasses import replace
from pathlib import Path

from blindsave.report.analysis import Analysis
from blindsave.report.sheet import Sheet
from blindsave.report.sheets import files
from blindsave.store import sha256_file


def test_every_file_that_was_read_is_listed_with_its_hash(sheets: dict[str, Sheet], analysis: Analysis):
    listed = {row[1]: row[2] for row in sheets["files"].rows}
    root = analysis.results.root
    assert listed == {
        p.relative_to(root).as_posix(): sha256_file(p) for ps in analysis.results.files.values() for p in ps
    }
    assert "test/principal_test.parquet" in listed and "protocol.toml" in listed


def test_a_plan_beside_the_results_is_listed_by_name(analysis: Analysis, tmp_path: Path):
    plan = tmp_path / "protocol.toml"
    plan.write_text("x")
    results = replace(analysis.results, files={"plan": (plan,)})
    assert files.sources(replace(analysis, results=results)).rows == (("plan", "protocol.toml", sha256_file(plan)),)
