"""What a study cost, from the manifests of its artifacts."""

from pathlib import Path

import pytest

from blindsave import store
from blindsave.stages.spent import spent
from blindsave.store import origins


@pytest.fixture
def add(tmp_path):
    """Makes artifacts of a kind that say how many episodes they hold and how long they took."""
    count = iter(range(100))

    def make(kind: str, configuration: dict, episodes: int, seconds: float) -> Path:
        def build(folder: Path) -> store.Built:
            (folder / "data").write_text("x")
            return store.Built({"episodes": episodes}, seconds)

        return store.make(tmp_path, kind, configuration | {"number": next(count)}, {}, build).folder

    return make


def test_artifacts_are_added_up_by_kind_of_work(tmp_path, add):
    add("dataset", {"labels": "own"}, 20, 100)
    add("dataset", {"labels": "own"}, 30, 200)
    add("dataset", {"labels": "teacher"}, 7, 50)
    add("students", {"stage": "final", "family": "gru_n64"}, 0, 10)
    add("grid", {"grid": {"split": "validation"}}, 225, 4)
    rows = {row["work"]: row for row in spent(tmp_path)}
    assert list(rows) == ["base episodes", "finals, gru_n64", "playing validation", "shadow episodes"]
    base = rows["base episodes"]
    assert (base["pieces"], base["episodes"], int(base["wall_s"])) == (2, 50, 300)
    assert rows["playing validation"]["episodes"] == 225
    assert base["machine"].endswith("cores")


def test_work_of_another_machine_is_listed_apart(tmp_path, add, monkeypatch):
    add("shard", {}, 1, 1)
    monkeypatch.setattr(origins, "machine", lambda: {"cpu": "Imaginary", "cores": 64, "os": "Linux"})
    add("shard", {}, 2, 1)
    assert {row["episodes"]: row["pieces"] for row in spent(tmp_path)} == {1: 1, 2: 1}
    assert "Imaginary, 64 cores" in {row["machine"] for row in spent(tmp_path)}


def test_a_damaged_manifest_is_left_out_and_missing_episodes_do_not_matter(tmp_path, add):
    (add("shard", {}, 1, 1) / "manifest.json").write_text("{")
    (add("shard", {}, 5, 1) / "data").unlink()
    (row,) = spent(tmp_path)
    assert (row["pieces"], row["episodes"]) == (1, 5)


def test_an_empty_work_folder_cost_nothing(tmp_path):
    assert spent(tmp_path) == spent(tmp_path / "nowhere") == []
