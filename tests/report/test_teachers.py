"""Fingerprints find the studies of their teachers, and the deficits are those of the studies."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest
from placed_teachers import placed

from blindsave.errors import BadFile
from blindsave.evidence import tables
from blindsave.report import teachers
from blindsave.report.teachers import TRAITS, Taught, association, paper, place, place_all, read_taught
from blindsave.store import read_json

RESULTS = Path(__file__).parents[2] / "results"
PRINTS = RESULTS / "teachers" / "fingerprints.json"


@pytest.fixture(scope="module")
def shipped() -> tuple[Taught, ...]:
    return read_taught(RESULTS)


@pytest.fixture
def folder(tmp_path, shipped) -> Path:
    """A results folder with one study of a fingerprinted teacher."""
    study = shipped[-1].table.parents[1]
    (tmp_path / "other/test").mkdir(parents=True)
    for name in ("freeze.json", "ledger.jsonl", "test/principal_test.parquet"):
        shutil.copy(study / name, tmp_path / "other" / name)
    shutil.copy(PRINTS, tmp_path)
    return tmp_path


def test_every_shipped_study_whose_teacher_has_a_fingerprint_is_found(shipped):
    prints = read_json(PRINTS)["teachers"]
    assert len(shipped) >= 3 and {one.name for one in shipped} <= prints.keys()
    for one in shipped:
        assert one.fingerprint["sha256"] in (one.table.parents[1] / "freeze.json").read_text()
        assert set(one.sources) >= {one.table, PRINTS}


def test_the_deficit_is_the_difference_of_the_studys_own_rows(folder):
    (study,) = read_taught(folder)
    found = place(study, 20, "bootstrap", 500)
    rows = [row for row in tables.read(study.table).to_pylist() if row["blackout"] == 20]
    linear, window = (
        fmean(row["save"] for row in rows if row["policy"] == name) for name in ("structured_k0", "finite_stack_10")
    )
    assert found is not None and found.deficit.value == pytest.approx(100 * (linear - window))
    assert found.deficit.low is not None and found.deficit.high is not None
    assert found.deficit.low <= found.deficit.value <= found.deficit.high
    assert place(study, 7, "bootstrap", 500) is None  # a length that nobody played


def test_a_teacher_of_several_studies_counts_once(folder):
    """With the study that trained without faults, wherever it lies; of two such, with the one nearest to the top."""
    shutil.copytree(folder / "other", folder / "again" / "deep" / "other")
    trained = {"configuration": {"schedule": {"conditions": {"clean": {}, "noise_5mm": {}}}}}
    (folder / "other/datasets/base").mkdir(parents=True)
    (folder / "other/datasets/base/manifest.json").write_text(json.dumps(trained))
    studies = read_taught(folder)
    assert [(one.table.parents[1].name, one.plain) for one in studies] == [("other", True), ("other", False)]
    (once,) = place_all(studies, 20, "bootstrap", 50)
    assert once == place(studies[0], 20, "bootstrap", 50)
    assert place_all(studies, 7, "bootstrap", 50) == ()
    assert len(place_all(studies[1:], 20, "bootstrap", 50)) == 1  # better than nothing


def test_of_two_plain_studies_of_a_teacher_the_main_one_counts_and_others_that_compared_nothing_do_not_hide_it(
    shipped, monkeypatch
):
    asked = []

    def told(study, *_):
        asked.append(study.table)
        return None if len(asked) == 1 else placed(len(asked), 0.05, 1.0)

    monkeypatch.setattr(teachers, "place", told)
    one, other = (
        replace(shipped[0], table=Path(name)) for name in ("results/teachers/a/t.parquet", "results/t.parquet")
    )
    assert len(place_all((one, other, shipped[1]), 20, "bootstrap", 50)) == 2
    assert asked[:2] == [other.table, one.table]


def test_every_shipped_teacher_is_placed_once(shipped):
    names = [one.name for one in place_all(shipped, 20, "bootstrap", 50)]
    assert len(names) == len(set(names)) >= 3


def test_a_teacher_is_known_by_its_bytes_not_by_its_name(folder):
    path = folder / "fingerprints.json"
    held = json.loads(path.read_text())
    for one in held["teachers"].values():
        one["sha256"] = "0" * 64
    path.write_text(json.dumps(held))
    assert read_taught(folder) == ()
    path.unlink()
    assert read_taught(folder) == ()


def test_a_table_that_was_changed_and_fingerprints_of_a_trial_are_refused(folder):
    path = folder / "fingerprints.json"
    whole = path.read_text()
    for held, sentence in (
        (json.loads(whole) | {"shots": 3}, "of a trial"),
        ({"teachers": [1]}, "holds no fingerprints"),
        ({"teachers": {"a": {}}}, "holds no fingerprints"),
    ):
        path.write_text(json.dumps(held))
        with pytest.raises(BadFile, match=sentence):
            read_taught(folder)
    path.write_text(whole)
    with (folder / "other/test/principal_test.parquet").open("ab") as file:
        file.write(b"x")
    with pytest.raises(BadFile, match="not the table the ledger names"):
        read_taught(folder)


def test_a_study_that_was_never_released_is_left_out(folder):
    (folder / "other/ledger.jsonl").unlink()
    assert read_taught(folder) == ()


def test_the_papers_teacher_has_what_was_published_of_it_and_nothing_else():
    theirs = paper()
    known = {trait.name: theirs.value(trait) for trait in TRAITS}
    assert theirs.deficit.value == 12.36 and known["label_variance"] == 0.073 and known["distance"] == 1.293
    assert known["reset_100"] == 41.8 and known["reset_400"] == 45.8
    assert known["change_hidden"] is None and known["halfway"] is None


def test_traits_are_set_against_deficits_teacher_by_teacher():
    teachers = tuple(placed(i, 0.03 + 0.01 * i, deficit) for i, deficit in enumerate((1.0, 2.0, 4.0, 3.0, 6.0)))
    by_name = {trait.name: association(teachers, trait) for trait in TRAITS}
    assert by_name["label_variance"].rho == pytest.approx(0.9) and by_name["halfway"].rho == -1.0
    assert by_name["reset_400"].rho is None  # the same for all
    assert {one.points for one in by_name.values()} == {5}
