"""The distillation commands, as a user calls them, on a dataset of a moment."""

import json
import shutil
from pathlib import Path

import pytest

from blindsave import cli, store
from blindsave.cli.distil import DistilPilot, DistilStudents
from blindsave.errors import BadFile, BadInput
from blindsave.learning.distil import CollectionSchedule
from blindsave.learning.distil.collection import Collection
from blindsave.policies.scripted import FIXED_CENTRE


@pytest.fixture(scope="module")
def dataset(tmp_path_factory) -> Path:
    """Twelve episodes of a rule that stands still."""
    schedule = CollectionSchedule(12)
    collection = Collection(tmp_path_factory.mktemp("data"), FIXED_CENTRE, schedule, {"teacher": "0" * 64})
    return collection.dataset().artifact.folder


def run(capsys, *words: str) -> dict:
    cli.execute([*words, "--json"])
    return json.loads(capsys.readouterr().out)


def test_a_dataset_is_described_and_verified(dataset, capsys):
    told = run(capsys, "dataset", "info", str(dataset))
    assert told["episodes"] == 12 and told["transitions"] > 12 * 20
    assert told["schedule"]["episodes"] == 12
    checked = run(capsys, "dataset", "verify", str(dataset))
    assert (checked["ok"], checked["episodes"], checked["sha256"]) == (True, 12, told["sha256"])
    cli.execute(["dataset", "verify", str(dataset)])
    assert "12 episodes verified" in capsys.readouterr().out


def test_a_copy_of_a_dataset_opens_under_any_name(dataset, tmp_path, capsys):
    copy = shutil.copytree(dataset, tmp_path / "my dataset")
    assert run(capsys, "dataset", "verify", str(copy)) == run(capsys, "dataset", "verify", str(dataset))
    assert run(capsys, "dataset", "info", str(copy))["episodes"] == 12


def test_one_changed_byte_of_a_dataset_is_found(dataset, tmp_path):
    copy = tmp_path / "dataset" / dataset.name
    copy.mkdir(parents=True)
    for path in dataset.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    shard = next(copy.glob("shard-*"))
    content = bytearray(shard.read_bytes())
    content[-1] ^= 1
    shard.write_bytes(content)
    with pytest.raises(BadFile, match=f"{shard.name} is damaged"):
        cli.execute(["dataset", "verify", str(copy)])


def test_a_folder_that_holds_no_dataset_is_named(tmp_path):
    for command in ("info", "verify"):
        with pytest.raises(BadFile, match=r"manifest\.json cannot be read"):
            cli.execute(["dataset", command, str(tmp_path)])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["students", "--families", "hopfield"], "there is no family `hopfield`"),
        (["students", "--seeds", "1", "1"], "at least one training seed, and none twice"),
        (["students", "--seeds"], "at least one training seed, and none twice"),
        (["ship", "--work", "nowhere"], "nowhere has no finished family"),
        (["pack", "--work", "nowhere"], "nowhere holds no students yet"),
    ],
)
def test_bad_input_is_refused_before_anything_is_played(words, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match=sentence):
        cli.execute(["distil", *words])
    assert not list(tmp_path.rglob("*.safetensors"))


def test_a_picture_of_nothing_is_refused(tmp_path):
    pytest.importorskip("matplotlib")
    with pytest.raises(BadFile, match=r"none\.jsonl cannot be read"):
        cli.execute(["distil", "curves", str(tmp_path / "none.jsonl"), "--out", str(tmp_path / "x.png")])
    assert not (tmp_path / "x.png").exists()


def finished(work: Path) -> Path:
    """A work folder with one finished family."""

    def build(folder: Path) -> None:
        (folder / "14303.safetensors").write_text("a student")
        (folder / "metrics.jsonl").write_text("{}\n")

    made = store.make(work, "students", {"family": "gru_n8"}, {}, build)
    summary = {"family": "gru_n8", "finals_folder": made.folder.relative_to(work).as_posix()}
    store.write_json(work / "summary" / "gru_n8.json", summary)
    return work


def test_finals_are_shipped_by_family_and_seed(tmp_path, capsys):
    cli.execute(["distil", "ship", "--work", str(finished(tmp_path / "work")), "--models", str(tmp_path / "models")])
    assert "1 students shipped" in capsys.readouterr().out
    assert (tmp_path / "models/students/gru_n8/14303.safetensors").read_text() == "a student"
    assert not list((tmp_path / "models").rglob("metrics.jsonl"))


def test_a_pack_is_written_where_it_is_told(tmp_path, capsys):
    result = run(capsys, "distil", "pack", "--work", str(finished(tmp_path / "work")), "--out", str(tmp_path / "x.tar"))
    assert result == {"path": str(tmp_path / "x.tar")} and (tmp_path / "x.tar").stat().st_size > 100


def test_students_are_shown_by_family_with_every_seed(capsys):
    students = [{"validation_mse": 0.0123, "selected_epoch": 7}, {"validation_mse": 0.02, "selected_epoch": 31}]
    family = {"shadow": {"transitions": 4321}, "finals": {"students": students}}
    DistilStudents().show({"families": {"gru_n8": family}})
    said = capsys.readouterr().out
    assert all(part in said for part in ("gru_n8", "4321", "0.0123 0.0200", "7 31"))


def test_the_pilot_is_shown_without_and_with_correction(capsys):
    one, other = {"family": "structured_k2", "saves": 0.5}, {"family": "structured_k2", "saves": 0.75}
    DistilPilot().show({"family": "structured_k2", "seed": 1, "without_correction": one, "with_correction": other})
    (row,) = [line for line in capsys.readouterr().out.splitlines() if "saves" in line and "control steps" not in line]
    assert row.index("0.5") < row.index("0.75")
