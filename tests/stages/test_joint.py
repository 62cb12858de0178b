"""The studies of one study file, taken together."""

import csv
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from blindsave import store
from blindsave.errors import BadFile, BadInput
from blindsave.stages import joint
from blindsave.stages.planning import published_plan
from blindsave.stages.scales import PAPER
from blindsave.stages.study_file import StudyFile, read_study_file

TEACHERS = "[teachers]\na = 'shipped'\nb = 'shipped'"


def read(folder: Path, text: str) -> StudyFile:
    (folder / "mine.toml").write_text(text)
    return read_study_file(folder / "mine.toml")


def test_several_teachers_are_summarised_together(tmp_path, capsys):
    from blindsave.cli.study import Study

    file = read(tmp_path, "[teachers]\na = 'shipped'\nb = 'shipped'")
    cell = {"20": {"saves": 1, "shots": 2}}
    page = tmp_path / "a/results/report/report.html"
    difference = {"a": "x", "b": "y", "blackout": 20, "estimate": 0.01, "low": -0.02, "high": 0.034}
    done = {
        name: {
            "save_rates": {"sealed_test": {name: cell}},
            "contrasts": {"sealed_test": [difference]},
            "report": str(page),
        }
        for name in ("a", "b")
    }
    summary = joint.summarise(file, tmp_path, done)
    assert summary == json.loads((tmp_path / joint.SUMMARY).read_text())
    assert summary["save_rates"] == {"sealed_test": {"a": {"a": cell}, "b": {"b": cell}}}
    assert summary["teachers"]["a"] == {"report": "a/results/report/report.html"}
    assert joint.summarise(file, tmp_path, done | {"b": {"save_rates": {}, "report": None}}) is None
    Study(Path("study.toml")).show({"folder": str(tmp_path), "teachers": done, "summary": summary})
    shown = capsys.readouterr().out
    assert shown.count("+1.0 [-2.0, +3.4]") == 2 and "400 ms" in shown


def test_planned_differences_of_the_shipped_study_are_those_of_its_report():
    root = published_plan().parent
    site: Any = SimpleNamespace(scale=PAPER, results=root / "results", plan=root / "protocol.toml")
    found = joint.planned_contrasts(site)
    assert list(found) == ["principal_test", "sealed_test"]
    with (root / "results/report/tables/contrasts.csv").open(encoding="utf-8") as file:
        reported = list(csv.DictReader(file))
    ours = [(100 * c["estimate"], 100 * c["low"], 100 * c["high"]) for c in found["principal_test"]]
    names = ("estimate", "estimate_low", "estimate_high")
    assert len(ours) == len(reported)
    for mine, row in zip(ours, reported, strict=True):
        assert mine == pytest.approx([float(row[name]) for name in names])


def test_a_kept_file_leads_to_the_studies_of_its_teachers(tmp_path):
    file, folder = read(tmp_path, TEACHERS), tmp_path / "study"
    assert joint.study_folders(folder) == {"": folder}
    joint.keep(file, folder, file.sites(folder))
    assert (folder / joint.TEXT).read_text() == TEACHERS
    assert joint.study_folders(folder) == {"a": folder / "a", "b": folder / "b"}
    moved = folder.rename(tmp_path / "elsewhere")
    assert joint.study_folders(moved) == {"a": moved / "a", "b": moved / "b"}


def test_a_file_may_change_until_a_test_is_open(tmp_path):
    file, folder = read(tmp_path, TEACHERS), tmp_path / "study"
    sites = file.sites(folder)
    joint.keep(file, folder, sites)
    other = replace(file, text="epochs = 5", scale=replace(file.scale, epochs=5))
    joint.keep(other, folder, sites)
    assert store.read_json(folder / joint.PARSED)["scale"]["epochs"] == 5
    sites["b"].ledger.append("freeze", {})
    joint.keep(file, folder, sites)
    sites["b"].ledger.append("opening", {})
    with pytest.raises(BadInput, match=f"no longer the study whose test {folder / 'b'} has opened"):
        joint.keep(other, folder, sites)
    assert (folder / joint.TEXT).read_text() == TEACHERS


def test_words_may_change_after_the_test_is_open_but_not_what_decided_it(tmp_path):
    file, folder = read(tmp_path, TEACHERS), tmp_path / "study"
    sites = file.sites(folder)
    joint.keep(file, folder, sites)
    sites["a"].ledger.append("opening", {})
    joint.keep(replace(file, text=f"# a remark\n{TEACHERS}"), folder, sites)
    assert (folder / joint.TEXT).read_text().startswith("# a remark")


def test_a_damaged_record_of_the_studies_is_named(tmp_path):
    (tmp_path / joint.PARSED).write_text("{")
    with pytest.raises(BadFile, match=r"study\.json is damaged"):
        joint.study_folders(tmp_path)


def test_before_a_test_is_open_no_differences_are_planned(tmp_path):
    site = read(tmp_path, "").sites(tmp_path / "study")["teacher"]
    assert joint.planned_contrasts(site) == {}
