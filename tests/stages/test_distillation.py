"""The tasks of the distillation, and what of it is published."""

import json
import shutil
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import tiny_study

from blindsave import store
from blindsave.diagnostics import curve_table
from blindsave.errors import BadFile
from blindsave.learning.distil.collection import SHARD_EPISODES
from blindsave.stages import distillation
from blindsave.stages.scales import PAPER, SMOKE

CURVE = {"epoch": 1, "seed": 14303, "train_loss": 0.5, "validation_loss": 0.25, "gradient_norm": 0.125}


def episodes(tasks, unit: str) -> int:
    return sum(int(task.cost[unit]) for task in tasks)


def test_base_episodes_are_played_in_shards_of_which_the_last_may_be_short():
    scale = replace(SMOKE, base_episodes=2 * SHARD_EPISODES + 30)
    tasks = distillation.base_tasks(scale)
    assert [task.cost["teacher"] for task in tasks] == [SHARD_EPISODES, SHARD_EPISODES, 30]
    assert [task.arguments["shard"] for task in tasks] == [0, 1, 2]
    assert episodes(distillation.base_tasks(replace(scale, base_episodes=2 * SHARD_EPISODES)), "teacher") == 1000


def test_shadow_episodes_are_shared_by_the_collectors_of_a_family():
    tasks = distillation.shadow_tasks(PAPER)
    assert episodes(tasks, "shadow") == 7 * 20_000
    one = [task for task in tasks if task.arguments["family"] == "gru_n64" and task.arguments["seed"] == 14303]
    assert episodes(one, "shadow") == 4000
    assert len({task.key for task in tasks}) == len(tasks)


def test_finals_see_more_than_collectors_and_every_family_is_one_training():
    for make, seen in ((distillation.collector_tasks, 20_000), (distillation.final_tasks, 40_000)):
        tasks = make(PAPER)
        assert [task.key for task in tasks] == list(PAPER.families)
        assert all(task.cost == {f"train {task.key}": seen * 100 * 5} and task.trains for task in tasks)


@pytest.fixture
def trained(tmp_path, monkeypatch):
    """A site whose pipeline has trained one student, in a moment."""
    site = tiny_study.site(tmp_path)

    def build(folder: Path) -> dict:
        (folder / "14303.safetensors").write_text("a student")
        (folder / "metrics.jsonl").write_text(json.dumps(CURVE | {"epoch_seconds": time.perf_counter()}) + "\n")
        return {"students": [{"seed": 14303, "validation_mse": 0.25}], "training_s": 3.5}

    def train(family: str) -> store.Artifact:
        return store.make(site.work, "students", {"family": family, "stage": "final"}, {}, build)

    fake = SimpleNamespace(finals=train, collectors=train)
    monkeypatch.setattr(distillation, "pipeline", lambda _: fake)
    return site


def here(site):
    """Do tasks at once, in this process."""
    return lambda tasks: [task.work(site, **task.arguments) for task in tasks]


def test_finals_are_published(trained):
    made = distillation.train_finals(trained, "feed_forward")
    assert trained.student_file("feed_forward", 14303).read_text() == "a student"
    assert made.files == (trained.student_file("feed_forward", 14303),)
    assert made.result == {"validation_mse": [0.25], "training_s": 3.5}


def test_learning_curves_of_both_stages_go_to_one_file_that_knows_no_clock(trained):
    path = trained.results / curve_table.PLACE
    written = []
    for _ in range(2):
        (made,) = distillation.collectors(trained, here(trained))
        assert made == distillation.train_collectors(trained, "feed_forward")
        distillation.finals(trained, here(trained))
        written.append(path.read_bytes())
        shutil.rmtree(trained.work)
        path.unlink()
    assert written[0] == written[1]
    path.write_bytes(written[0])
    assert curve_table.read(path, "finals", "feed_forward") == [CURVE]
    assert curve_table.read(path, "collectors", "feed_forward") == [CURVE]
    assert [one for one in trained.results.rglob("*") if one.is_file()] == [path]


def test_collectors_stay_among_what_can_be_made_again(trained):
    made = distillation.train_collectors(trained, "feed_forward")
    assert all(path.is_relative_to(trained.work) for path in (*made.files, *made.artifacts))
    assert not trained.models.exists()
    assert not trained.results.exists()


def test_a_final_that_came_out_otherwise_after_the_opening_is_refused(trained):
    store.write_whole(trained.student_file("feed_forward", 14303), "another student")
    trained.ledger.append("opening", {})
    with pytest.raises(BadFile, match=r"14303\.safetensors was frozen before the test was opened"):
        distillation.train_finals(trained, "feed_forward")


def test_what_is_bound_of_a_dataset_has_no_date_and_no_machine(tmp_path):
    site = tiny_study.site(tmp_path)

    def build(folder: Path) -> dict:
        (folder / "shard").write_text("x")
        return {"episodes": 20, "transitions": 700}

    artifact = store.make(site.work, "dataset", {"labels": "own"}, {"teacher": "ab"}, build)
    dataset = SimpleNamespace(artifact=artifact)
    made = distillation._datasets(site, {"base": dataset, "again": dataset})
    bound = json.loads((site.results / "datasets/base/manifest.json").read_text())
    assert bound.keys() == {"kind", "configuration", "inputs", "files", "result"}
    assert bound["files"] == artifact.manifest["files"]
    assert made.result == {"episodes": 40, "transitions": 1400}
