"""Datasets whose episodes stayed elsewhere: which ones count."""

from pathlib import Path

from blindsave import store
from blindsave.learning.distil.elsewhere import imported

SCHEDULE = {"episodes": 20}
WANTED = {"schedule": SCHEDULE, "labels": "own"}


def dataset(work: Path, schedule: dict, inputs: dict) -> Path:
    def build(folder: Path) -> None:
        (folder / "shard-0000.safetensors").write_text("episodes")

    return store.make(work, "dataset", {"schedule": schedule, "labels": "own"}, inputs, build).folder


def test_only_the_dataset_of_the_same_schedule_labels_and_inputs_counts(tmp_path):
    folder = dataset(tmp_path, SCHEDULE, {"teacher": "ab"})
    assert imported(tmp_path, WANTED, {"teacher": "ab"}) is None  # its episodes are here
    (folder / "shard-0000.safetensors").unlink()
    assert imported(tmp_path, WANTED, {"teacher": "cd"}) is None
    assert imported(tmp_path, WANTED | {"schedule": {"episodes": 30}}, {"teacher": "ab"}) is None
    assert imported(tmp_path, WANTED | {"labels": "own, undisturbed"}, {"teacher": "ab"}) is None
    assert imported(tmp_path, WANTED, {"teacher": "ab"}).folder == folder
