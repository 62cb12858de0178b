"""One synthetic study and one report for all tests of the report."""

from pathlib import Path

import pytest
import synthetic_results

from blindsave.report.analysis import Analysis, analyse
from blindsave.report.build import Report, build, tables
from blindsave.report.results import Results, read_results
from blindsave.report.sheet import Sheet

REPLICATES = 200


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A complete synthetic results folder; tests must not change it."""
    return synthetic_results.write(tmp_path_factory.mktemp("study") / "results")


@pytest.fixture(scope="session")
def results(folder: Path) -> Results:
    """The folder, read."""
    return read_results(folder)


@pytest.fixture(scope="session")
def analysis(results: Results) -> Analysis:
    """Its statistics, with few replicates."""
    return analyse(results, REPLICATES)


@pytest.fixture(scope="session")
def report(results: Results, tmp_path_factory: pytest.TempPathFactory) -> Report:
    """The whole report of the folder."""
    return build(results, tmp_path_factory.mktemp("report"), REPLICATES)


@pytest.fixture(scope="session")
def sheets(analysis: Analysis) -> dict[str, Sheet]:
    """Its tables, by name."""
    return tables(analysis)
