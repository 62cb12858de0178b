"""The report command: what it asks for, and what it prints."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from blindsave.cli import execute
from blindsave.cli.report import Report
from blindsave.errors import BadFile, BadInput

RESULT = {
    "page": "out/report.html",
    "tables": {"table-1": {}, "noise": {}},
    "figures": {"figure-1": ["a.svg", "a.png"], "figure-3": ["b.svg"]},
    "claims": [{"sentence": "A memory helps: confirmed. Ours 5 %.", "verdict": "confirmed"}],
    "verification": {"failures": [{"file": "freeze.json", "reason": "was changed"}]},
    "missing": ["the noise extension"],
}


def test_verdicts_failures_and_gaps_are_printed(capsys):
    Report().show(RESULT)
    said = capsys.readouterr().out
    assert "A memory helps" in said and "Ours 5 %" not in said
    assert "FAILED freeze.json: was changed" in said
    assert "not recorded yet: the noise extension" in said
    assert said.splitlines()[-1] == "2 tables, 3 figure files; the report: out/report.html"
    Report().show(RESULT | {"verification": None})
    assert "FAILED" not in capsys.readouterr().out


@pytest.fixture
def built(monkeypatch):
    """What is asked of the builder and of the recorder."""
    pytest.importorskip("matplotlib")
    asked = []

    def build(results, out, tell):
        asked.append(("build", results, out))
        return SimpleNamespace(to_dict=lambda: RESULT | {"ok": True})

    monkeypatch.setattr("blindsave.report.build.build", build)
    monkeypatch.setattr("blindsave.report.results.read_results", lambda folder: folder)
    monkeypatch.setattr("blindsave.report.record.record_failures", lambda read: asked.append(("record", read)))
    return asked


def test_failures_are_recorded_only_where_asked_and_before_the_report(built, tmp_path, capsys):
    execute(["report", "--results", str(tmp_path), "--json"])
    assert built == [("build", tmp_path, tmp_path / "report")]
    built.clear()
    execute(["report", "--results", str(tmp_path), "--out", str(tmp_path / "out"), "--record", "--json"])
    assert built == [("record", tmp_path), ("build", tmp_path, tmp_path / "out")]
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["page"] == "out/report.html"


def test_without_results_here_the_published_ones_are_reported_and_written_here(built, tmp_path, monkeypatch):
    from blindsave.verify.places import brought

    monkeypatch.chdir(tmp_path)
    execute(["report", "--json"])
    assert built == [("build", brought() / "results", Path("report"))]
    with pytest.raises(BadInput, match="beside results of your own"):
        execute(["report", "--record"])
    (tmp_path / "results").mkdir()
    built.clear()
    execute(["report", "--json"])
    assert built == [("build", Path("results"), Path("results/report"))]


def test_a_folder_that_does_not_exist_is_refused_and_not_made(tmp_path):
    pytest.importorskip("matplotlib")
    with pytest.raises(BadFile, match=r"there is no results folder .*nowhere"):
        execute(["report", "--results", str(tmp_path / "nowhere")])
    assert not (tmp_path / "nowhere").exists()
